-- Read a page of one context's messages for its file, with what the index of Telegram ids knows of each.
-- USES: telegram_index
-- KEYS: messages order telegram epoch meta unread
-- ARGV: after below limit
-- Reply: {epoch, revision, version of the facts, {row, ...}}; a row is {sequence, json, its Telegram ids with spaces, the Telegram id that it
--         quotes by the index or '', the ids of messages that quote it by its own id, with spaces, 1 if it
--         is unread, the file ids of its photos with spaces}
local rows = {}
local slice = redis.call('ZRANGEBYSCORE', order, '(' .. after, '(' .. below, 'WITHSCORES', 'LIMIT', 0, limit)

-- Return the Telegram id that this message quotes if the index knows it, or ''.
local function quoted_by_index(id, quoted)
  for by in words(quoted and redis.call('HGET', telegram, 'q:' .. quoted)) do
    if by == id then
      return quoted
    end
  end
  return ''
end

for at = 1, #slice, 2 do
  local id = slice[at]
  local json = redis.call('HGET', messages, id) or ''
  rows[#rows + 1] = {
    slice[at + 1],
    json,
    redis.call('HGET', telegram, id) or '',
    quoted_by_index(id, quoted_in(fields_of(json))),
    redis.call('HGET', telegram, 'q:' .. id) or '',
    redis.call('ZSCORE', unread, id) and 1 or 0,
    redis.call('HGET', telegram, 'photos:' .. id) or '',
  }
end
local state = redis.call('HMGET', meta, 'revision', 'facts_version')
return { redis.call('GET', epoch) or '0', state[1] or '0', state[2] or '0', rows }
