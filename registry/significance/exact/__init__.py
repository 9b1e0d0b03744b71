"""Exact tails on the lattice of integer statistics."""
