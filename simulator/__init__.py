"""A strict local Telegram Bot API with a chat page; it imports nothing of the bot that it serves."""
