"""Public files: new registries that hold what everybody may see of a private one, and nothing else."""
