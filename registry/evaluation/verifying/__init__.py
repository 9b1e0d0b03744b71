"""Whether a registry still holds what was once put into it, and what follows from that."""
