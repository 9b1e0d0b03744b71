"""What is wrong with a manifest and its files, told before anything is stored."""
