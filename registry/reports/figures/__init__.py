"""What is drawn for papers."""
