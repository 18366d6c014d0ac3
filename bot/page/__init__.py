"""The memory page and the operators' page: a Telegram Mini App and its JSON API."""
