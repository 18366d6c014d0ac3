"""The methods of the Bot API, by theme."""
