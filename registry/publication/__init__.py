"""Public files: new registries with the public data of a private one, and nothing else."""
