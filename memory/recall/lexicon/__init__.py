"""Text analysis without a model: words, names, dates and signs. Nothing here does I/O."""
