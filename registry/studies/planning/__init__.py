"""Before the data: power, and what to collect."""
