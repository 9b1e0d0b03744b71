"""The per-item statistics that metrics are made of."""
