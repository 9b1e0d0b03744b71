"""Whether what was altered, removed or put in by another program is found."""
