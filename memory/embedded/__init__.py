"""The servers that run from `DATA_DIR` where no `REDIS_URL` or `QDRANT_URL` is set."""
