-- Read a page of one context's messages for its file, with what the index of Telegram ids knows of each.
-- USES: named telegram_index
-- KEYS: messages order telegram epoch meta unread
-- ARGV: after below limit
-- Reply: {epoch, revision, version of the facts, {row, ...}}; a row is named: score (its sequence), json, telegram_ids,
--   quotes (the Telegram id that it quotes if the index knows it), quoted_by (messages that quote it by its own id),
--   is_unread, photos (file ids)
local rows = {}
local slice = redis.call('ZRANGEBYSCORE', order, '(' .. after, '(' .. below, 'WITHSCORES', 'LIMIT', 0, limit)

-- Return the Telegram id that this message quotes if the index knows it, or nil.
local function quoted_by_index(id, quoted)
  for by in words(redis.call('HGET', telegram, 'q:' .. quoted)) do
    if by == id then return quoted end
  end
end

for at = 1, #slice, 2 do
  local id = slice[at]
  local json = redis.call('HGET', messages, id)
  rows[#rows + 1] = named({
    score = slice[at + 1],
    json = json,
    telegram_ids = redis.call('HGET', telegram, id),
    quotes = quoted_by_index(id, quoted_in(fields_of(json))),
    quoted_by = redis.call('HGET', telegram, 'q:' .. id),
    is_unread = redis.call('ZSCORE', unread, id),
    photos = redis.call('HGET', telegram, 'photos:' .. id),
  })
end
local state = redis.call('HMGET', meta, 'revision', 'facts_version')
return { redis.call('GET', epoch) or '0', state[1] or '0', state[2] or '0', rows }
