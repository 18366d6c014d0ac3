"""Crash points:

a fault at any await of a piece of work in a separate process, and the recovery by the next worker.
"""
