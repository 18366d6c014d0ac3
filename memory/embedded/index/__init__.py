"""The process of the embedded index: Qdrant's REST API, the part that we use, over a qdrant-edge engine."""
