"""What the benchmarks share: the processes around what is measured, and how figures are printed."""
