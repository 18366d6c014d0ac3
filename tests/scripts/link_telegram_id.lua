-- Run the prelude alone: link a message to a Telegram id.
-- USES: telegram_index
-- KEYS: telegram
-- ARGV: message_id telegram_id
link_telegram(telegram, message_id, telegram_id)
