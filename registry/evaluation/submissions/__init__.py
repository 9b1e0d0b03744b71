"""The life of a submission: deadline and limits, what is declared of it later, and teams that are to be forgotten."""
