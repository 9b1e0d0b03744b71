"""Likely mistakes in what is submitted: a header taken for an item, labels of another set, another Unicode form."""
