"""The process of the embedded index: the part of Qdrant's REST API that we use, over the engine qdrant-edge."""
