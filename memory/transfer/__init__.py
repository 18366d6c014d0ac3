"""Export and import of one context."""
