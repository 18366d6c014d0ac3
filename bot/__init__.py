"""Mnemogram, the bot: transport, inbox, turn and agent."""
