-- The index of Telegram message ids of one context, both ways in one hash: Telegram id -> message id, and
-- message id -> its Telegram ids with spaces (a reply that was split has several). A prelude.

-- Note that a message is shown in Telegram under this id. Repeating is harmless.
local function link_telegram(telegram_key, message_id, telegram_id)
  if redis.call('HGET', telegram_key, telegram_id) == message_id then
    return
  end
  local known = redis.call('HGET', telegram_key, message_id)
  redis.call('HSET', telegram_key, telegram_id, message_id)
  redis.call('HSET', telegram_key, message_id, known and (known .. ' ' .. telegram_id) or telegram_id)
end

-- Remove every trace of a message from the index.
local function unlink_telegram(telegram_key, message_id)
  local known = redis.call('HGET', telegram_key, message_id)
  if not known then
    return
  end
  redis.call('HDEL', telegram_key, message_id)
  for telegram_id in string.gmatch(known, '%S+') do
    if redis.call('HGET', telegram_key, telegram_id) == message_id then
      redis.call('HDEL', telegram_key, telegram_id)
    end
  end
end
