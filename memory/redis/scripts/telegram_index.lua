-- The index of Telegram message ids of one context, in one hash: Telegram id -> message id, message id -> its Telegram
-- ids with spaces (a split reply has several), q:<Telegram id> -> the messages that quote it, and photos:<message id> ->
-- the file ids of its photos. A prelude.
-- A message's JSON is never decoded. Its quotation is its last field. No string in it can contain that field's mark,
-- because quotation marks are escaped.

-- Record that a message is shown in Telegram under this id. Repeating is harmless.
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
  redis.call('HDEL', telegram_key, message_id, 'photos:' .. message_id)
  for telegram_id in string.gmatch(known, '%S+') do
    if redis.call('HGET', telegram_key, telegram_id) == message_id then
      redis.call('HDEL', telegram_key, telegram_id)
    end
  end
end

-- Return the Telegram id of the message that a message quotes, or nil; nil also for a message of another chat (0).
local function quoted_in(json)
  local _, at = string.find(json, ',"quote":{"telegram_message_id":', 1, true)
  local telegram_id = at and string.match(json, '^%d+', at + 1)
  return telegram_id ~= '0' and telegram_id or nil
end

-- Record which message a new message quotes.
local function link_quote(telegram_key, message_id, json)
  local telegram_id = quoted_in(json)
  if telegram_id then
    local field = 'q:' .. telegram_id
    local known = redis.call('HGET', telegram_key, field)
    redis.call('HSET', telegram_key, field, known and (known .. ' ' .. message_id) or message_id)
  end
end

-- Remove the record of what a deleted message quoted.
local function unlink_quote(telegram_key, message_id, json)
  local telegram_id = quoted_in(json)
  local known = telegram_id and redis.call('HGET', telegram_key, 'q:' .. telegram_id)
  if not known then
    return
  end
  local others = {}
  for id in string.gmatch(known, '%S+') do
    if id ~= message_id then
      others[#others + 1] = id
    end
  end
  if #others > 0 then
    redis.call('HSET', telegram_key, 'q:' .. telegram_id, table.concat(others, ' '))
  else
    redis.call('HDEL', telegram_key, 'q:' .. telegram_id)
  end
end

-- Take the quotation of a message out of the messages that quote it. `quoted` is its Telegram id, or its own id after
-- `unlink_all_telegram`. Return the sequences of the quoting messages.
local function strip_quotes(messages_key, order_key, telegram_key, quoted)
  local sequences = {}
  for id in string.gmatch(redis.call('HGET', telegram_key, 'q:' .. quoted) or '', '%S+') do
    local json = redis.call('HGET', messages_key, id)
    local at = json and string.find(json, ',"quote":{', 1, true)
    if at then
      redis.call('HSET', messages_key, id, string.sub(json, 1, at - 1) .. '}')
      sequences[#sequences + 1] = redis.call('ZSCORE', order_key, id) or '-1'
    end
  end
  redis.call('HDEL', telegram_key, 'q:' .. quoted)
  return sequences
end

-- Return the ids under which a message may be quoted: its own and those that Telegram shows it under.
local function names_of(telegram_key, message_id)
  local names = { message_id }
  for telegram_id in string.gmatch(redis.call('HGET', telegram_key, message_id) or '', '%S+') do
    names[#names + 1] = telegram_id
  end
  return names
end

-- Forget all Telegram ids: in the new chat they are ids of other messages. Quotations are recorded by the messages' own
-- ids from then on.
local function unlink_all_telegram(telegram_key)
  local remaining, all = {}, redis.call('HGETALL', telegram_key)
  for at = 1, #all, 2 do
    local quoted, by = string.match(all[at], '^q:(.+)$'), all[at + 1]
    if quoted then
      remaining['q:' .. (redis.call('HGET', telegram_key, quoted) or quoted)] = by
    end
  end
  redis.call('UNLINK', telegram_key)
  for field, by in pairs(remaining) do
    if not string.match(field, '^q:%d+$') then
      redis.call('HSET', telegram_key, field, by)
    end
  end
end
