"""Leaderboards as frozen data: read, chosen, stated, compared with earlier ones."""
