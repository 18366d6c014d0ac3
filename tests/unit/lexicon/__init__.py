"""Unit tests of the lexicon, which analyses texts without a model."""
