"""Who computes: threads, processes, a cluster, and the memory that they may take."""
