-- The index of Telegram message ids of one context, in one hash: Telegram id -> message id, message id -> its Telegram
-- ids (a split reply has several), q:<Telegram id> -> the messages that quote it, and photos:<message id> -> the file ids
-- of its photos. Lists are words. A prelude.
-- USES: words

-- Record that a message is shown in Telegram under this id. Repeating is harmless.
local function link_telegram(telegram_key, message_id, telegram_id)
  if redis.call('HGET', telegram_key, telegram_id) ~= message_id then
    redis.call('HSET', telegram_key, telegram_id, message_id)
    add_word(telegram_key, message_id, telegram_id)
  end
end

-- Remove every trace of a message from the index.
local function unlink_telegram(telegram_key, message_id)
  for telegram_id in words(redis.call('HGET', telegram_key, message_id)) do
    if redis.call('HGET', telegram_key, telegram_id) == message_id then
      redis.call('HDEL', telegram_key, telegram_id)
    end
  end
  redis.call('HDEL', telegram_key, message_id, 'photos:' .. message_id)
end

-- Return the Telegram id of the message that a message (its fields) quotes; '0' for none, and for one of another chat.
local function quoted_in(message)
  return message.quote and message.quote.telegram_message_id or '0'
end

-- Return the ids under which a message may be quoted: its own and those that Telegram shows it under.
local function names_of(telegram_key, message_id)
  local names = { message_id }
  for telegram_id in words(redis.call('HGET', telegram_key, message_id)) do
    names[#names + 1] = telegram_id
  end
  return names
end

-- Forget all Telegram ids: in the new chat they are ids of other messages. Quotations are recorded by the messages' own
-- ids from then on.
local function unlink_all_telegram(telegram_key)
  local kept, all = {}, redis.call('HGETALL', telegram_key)
  for at = 1, #all, 2 do
    local quoted = string.sub(all[at], 1, 2) == 'q:' and string.sub(all[at], 3)
    local name = quoted and (redis.call('HGET', telegram_key, quoted) or quoted)
    if name and not tonumber(name) then add_all(kept, { 'q:' .. name, all[at + 1] }) end
  end
  redis.call('UNLINK', telegram_key)
  for at = 1, #kept, 2 do redis.call('HSET', telegram_key, kept[at], kept[at + 1]) end
end
