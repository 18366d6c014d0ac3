"""Prompt injections:

payloads, a model that obeys all of them, tools that record their runs, and people who send them.
"""
