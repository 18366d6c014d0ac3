"""What recall reads in a text without a model: words, names, dates and signs. Nothing here does I/O."""
