"""What comes as a file: pictures for a model that sees, voices to be written down, documents to be read."""
