"""Shared parts of the benchmarks: processes, models, and the printing of figures."""
