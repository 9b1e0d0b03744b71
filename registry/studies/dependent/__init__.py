"""Studies of what depends on what: systems that answer the same items, items of one document, runs of one system."""
