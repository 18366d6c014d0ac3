"""The embedded stores: Valkey and the index server under one supervisor."""
