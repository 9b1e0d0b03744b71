"""What readers do not get to see: names, and scores."""
