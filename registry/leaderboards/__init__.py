"""A leaderboard as frozen data: loaded, chosen, compared with another, put into sentences."""
