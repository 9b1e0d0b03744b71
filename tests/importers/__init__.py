"""Logs of other programs become tasks; `*_logs` and `*_reports` hold what the programs themselves wrote."""


def scores(registry, more=""):
    """What was scored: test set, team, system and score of every submission."""
    rows = registry("query", f"SELECT test_set, team, system, score FROM submission_score {more} ORDER BY ALL",
                    "--format", "json").json
    return [tuple(row.values()) for row in rows]
