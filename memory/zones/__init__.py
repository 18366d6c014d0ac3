"""Time zones: their names, and what people write for them."""
