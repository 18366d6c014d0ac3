"""The lexicon: texts read without a model."""
