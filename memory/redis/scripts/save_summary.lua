-- Make a summary the current one, if nothing that it was made from has changed. All of it, or nothing.
-- KEYS: compress, epoch, meta, order, summaries, lineage
-- ARGV: 1 context_id, 2 token of the claim, 3 epoch, 4 revision, 5 conversation_start, 6 the summary that it builds
--       on or '', 7 its id, 8 its last sequence, 9 the summary (JSON), 10 the ids that it adds (JSON),
--       11 summaries to keep, 12 ... the ids that it adds
-- Reply: saved (now, or by a first try) | stale (deleted, edited, or another conversation since) |
--        lost (the claim is no longer ours) | forgotten (reset since)
local compress, epoch_key, meta, order, summaries, lineage = unpack(KEYS)
local context, token, epoch, revision, start, builds_on = unpack(ARGV, 1, 6)
local id, upto, json, covers, keep = unpack(ARGV, 7, 11)
if (redis.call('GET', epoch_key) or '0') ~= epoch then
  return 'forgotten'
end
if redis.call('ZSCORE', compress, context) ~= token then
  return 'lost'
end
local current = redis.call('ZREVRANGE', lineage, 0, 0, 'WITHSCORES')
if current[1] == id then
  return 'saved'
end

local facts = redis.call('HMGET', meta, 'revision', 'conversation_start')
if (facts[1] or '0') ~= revision or (facts[2] or '0') ~= start then
  return 'stale'
end
if (current[1] or '') ~= builds_on or tonumber(upto) <= tonumber(current[2] or '-1') then
  return 'stale'
end
for at = 12, #ARGV do
  if not redis.call('ZSCORE', order, ARGV[at]) then
    return 'stale'
  end
end

redis.call('HSET', summaries, id, json, 'covers:' .. id, covers)
redis.call('ZADD', lineage, upto, id)
for _, old in ipairs(redis.call('ZRANGE', lineage, 0, -1 - keep)) do
  redis.call('HDEL', summaries, old, 'covers:' .. old)
  redis.call('ZREM', lineage, old)
end
redis.call('HDEL', meta, 'summary_failures', 'summary_failed_at')
return 'saved'
