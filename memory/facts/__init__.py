"""Facts about people and things: extraction, storage, erasure."""
