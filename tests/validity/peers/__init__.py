"""The nulls of docs/validity.md through other programs, called as their users call them."""
