-- The end of reading a page of messages for facts. A prelude.
-- USES: extraction

-- Note that messages were read. keys: unread, meta; page: {read (ids), facts_from (if older messages were read)}
local function mark_read(keys, page)
  for _, id in ipairs(page.read) do redis.call('ZREM', keys.unread, id) end
  if page.facts_from then redis.call('HSET', keys.meta, 'facts_from', page.facts_from) end
end

-- End a claim, and the count of its failures: the context waits again if there is more to read. Older messages count
-- with `reads_older`.
local function end_extraction(keys, context, now, reads_older)
  redis.call('HDEL', keys.meta, 'fact_failures')
  redis.call('ZREM', keys.extract, context)
  if redis.call('EXISTS', keys.unread) == 1 then
    queue_extraction(keys, context, now)
    return
  end
  local state = redis.call('HMGET', keys.meta, 'facts_from', 'first_sequence')
  if reads_older and state[1] and tonumber(state[1]) > tonumber(state[2] or '0') then
    redis.call('ZADD', keys.extract, math.floor(now), context)
  end
end
