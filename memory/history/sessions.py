"""A session is a stretch of talk, and this is what ends one (scripts/append_messages.lua says where the next begins)."""

SESSION_GAP_S = 3600.0
"""A message that comes so long after the one before begins a session."""
SESSION_MESSAGES = 100
"""A session has at most so many messages: talk that never pauses would else be one."""
