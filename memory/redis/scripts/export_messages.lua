-- Read a page of one context's messages for its file, with what the index of Telegram ids knows of each.
-- USES: telegram_index
-- KEYS: messages order telegram epoch meta unread
-- ARGV: after below limit
-- Reply: {epoch, revision, version of the facts, {row, ...}}; a row is {sequence, json, its Telegram ids with spaces, the Telegram id that it
--         quotes by the index or '', the ids of messages that quote it by its own id, with spaces, 1 if it
--         is unread, the file ids of its photos with spaces}
local rows = {}
local slice = redis.call('ZRANGEBYSCORE', order, '(' .. after, '(' .. below, 'WITHSCORES', 'LIMIT', 0, limit)

-- Return true if the index says that this message quotes the message with the Telegram id.
local function is_indexed_quote(id, telegram_id)
  local by = redis.call('HGET', telegram, 'q:' .. telegram_id)
  return by and string.find(' ' .. by .. ' ', ' ' .. id .. ' ', 1, true) ~= nil
end

for at = 1, #slice, 2 do
  local id = slice[at]
  local json = redis.call('HGET', messages, id) or ''
  local quoted = quoted_in(json)
  rows[#rows + 1] = {
    slice[at + 1],
    json,
    redis.call('HGET', telegram, id) or '',
    quoted and is_indexed_quote(id, quoted) and quoted or '',
    redis.call('HGET', telegram, 'q:' .. id) or '',
    redis.call('ZSCORE', unread, id) and 1 or 0,
    redis.call('HGET', telegram, 'photos:' .. id) or '',
  }
end
local state = redis.call('HMGET', meta, 'revision', 'facts_version')
return { redis.call('GET', epoch) or '0', state[1] or '0', state[2] or '0', rows }
