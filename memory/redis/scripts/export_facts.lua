-- Read at one moment what a file of one context begins with: all but its messages, its ledger and its artifacts' text.
-- KEYS: epoch, meta, people, senders, sessions, lineage, summaries, artifacts, heard
-- Reply: {epoch, {meta field, value, ...}, {sender id, name, ...}, {sender id, messages, ...}, {session's sequence, ...},
--         {summary (JSON), what it covers (JSON), ...} oldest first, {artifact id, ...}, {heard line, score, ...}}
local epoch, meta, people, senders, sessions, lineage, summaries, artifacts, heard = unpack(KEYS)
local told = {}
for _, id in ipairs(redis.call('ZRANGE', lineage, 0, -1)) do
  told[#told + 1] = redis.call('HGET', summaries, id) or ''
  told[#told + 1] = redis.call('HGET', summaries, 'covers:' .. id) or '[]'
end
return {
  redis.call('GET', epoch) or '0',
  redis.call('HGETALL', meta),
  redis.call('HGETALL', people),
  redis.call('HGETALL', senders),
  redis.call('ZRANGE', sessions, 0, -1),
  told,
  redis.call('ZRANGE', artifacts, 0, -1),
  redis.call('ZRANGE', heard, 0, -1, 'WITHSCORES'),
}
