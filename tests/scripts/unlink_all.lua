-- Run the prelude alone: forget all Telegram ids.
-- USES: telegram_index
-- KEYS: telegram
unlink_all_telegram(telegram)
