"""The methods of the Bot API."""
