"""Benchmarks: every figure beside its limit or its peer, measured in the same run. `make benchmark` runs them all."""
