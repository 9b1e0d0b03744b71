"""SQL that a user wrote: what it may do, its limits, and what there is to ask for."""
