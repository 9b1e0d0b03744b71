"""The log: entries, what they tell of a number, and the registry as it stood at one of them."""
