"""What operators see of the bot: logs, metrics, traces."""
