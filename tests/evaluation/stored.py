"""What a registry holds, as queries find it."""


def query(registry, sql):
    return registry("query", sql, "--format", "json").json


def events(registry):
    """What was logged, but for the ends of commands."""
    actions = [row["action"] for row in query(registry, "SELECT action FROM event ORDER BY event_id")]
    return [action for action in actions if action != "end"]
