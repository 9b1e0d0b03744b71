"""Random draws: streams, resamples, swaps, and counting what is extreme."""
