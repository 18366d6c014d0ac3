"""The index in Qdrant."""
