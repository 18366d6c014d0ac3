"""Between Telegram and us: webhook, polling, updates, gating, rendering, sending."""
