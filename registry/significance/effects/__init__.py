"""Effect sizes, equivalence, power: what stands beside a p-value."""
