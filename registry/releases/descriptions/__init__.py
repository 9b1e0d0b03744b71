"""What describes a release: its README, Croissant and RO-Crate, and the licences that these name."""
