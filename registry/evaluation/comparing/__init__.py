"""All pairs of every board tested, corrected, ranked and stored."""
