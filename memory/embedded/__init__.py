"""The servers that run from `DATA_DIR` if `REDIS_URL` or `QDRANT_URL` is not set."""
