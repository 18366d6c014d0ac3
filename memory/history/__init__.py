"""The history of one context, and what is stored with it."""
