"""Tables, figures, pages and files of leaderboards and studies."""
