"""Studies of the gains of all pairs."""
