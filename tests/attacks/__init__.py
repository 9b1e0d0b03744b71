"""Attacks on a registry: nothing hidden leaks, nothing altered goes unnoticed, hostile files end soon.

`test_digests` guesses at names and gold by published digests. The SQL attacks have three modules:

`hidden` builds a registry with an anonymous task and an embargoed one, and finds hidden names and numbers in a text.
`sql_texts` generates SQL texts that try to print them. `sql_readers` sends a text to a database in every way that SQL
can be sent, and returns everything that is printed. A reader of the private registry is the control: it must print
hidden values for many of the texts, or these would be no attacks.
"""
