"""A strict local Telegram Bot API with a chat page. It imports nothing of the bot."""
