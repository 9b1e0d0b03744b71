"""One command's writing, in a copy of the database."""
