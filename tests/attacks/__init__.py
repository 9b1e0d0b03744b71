"""Attacks on a registry: nothing hidden leaks, nothing altered goes unnoticed, hostile files end soon.

`test_digests` guesses at names and gold by published digests. The SQL attacks have four modules:

`hidden` builds a registry with an anonymous task and an embargoed one, and finds hidden names and numbers in a text.
`sql_texts` generates SQL texts that try to print them. `sql_readers` runs a text as a reader or as an organiser and
returns everything that is printed. `test_sql` runs a few hundred texts in the suite; `python -m tests.attacks` runs
thousands, each in every way that SQL can be sent.

No module but `sql_readers` depends on how a registry hides something, so the same texts can attack another file or
server: pass its reader to `sql_texts.leaks`. An organiser's reader is the control: it must print hidden values for many
of the texts, or these would be no attacks.
"""
