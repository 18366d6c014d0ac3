"""Reminders: texts and tasks of people that are due at a time, once or repeatedly."""
