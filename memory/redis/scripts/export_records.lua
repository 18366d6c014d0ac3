-- Read everything of one context for its file, except messages, ledger and the text of artifacts, at one moment.
-- KEYS: epoch meta people senders sessions lineage summaries artifacts talk facts choices reminders
-- Reply: {epoch, {meta field, value, ...}, {sender id, name, ...}, {sender id, messages, ...}, {session's sequence, ...},
--         {summary (JSON), what it covers (JSON), ...} oldest first, {fact id, fact (JSON), ...},
--         {choice, value, ...}, {reminder id, reminder (JSON), ...}, {artifact id, ...}, {line of talk, score, ...}}
local texts = {}
for _, id in ipairs(redis.call('ZRANGE', lineage, 0, -1)) do
  texts[#texts + 1] = redis.call('HGET', summaries, id) or ''
  texts[#texts + 1] = redis.call('HGET', summaries, 'covers:' .. id) or '[]'
end
return {
  redis.call('GET', epoch) or '0',
  redis.call('HGETALL', meta),
  redis.call('HGETALL', people),
  redis.call('HGETALL', senders),
  redis.call('ZRANGE', sessions, 0, -1),
  texts,
  redis.call('HGETALL', facts),
  redis.call('HGETALL', choices),
  redis.call('HGETALL', reminders),
  redis.call('ZRANGE', artifacts, 0, -1),
  redis.call('ZRANGE', talk, 0, -1, 'WITHSCORES'),
}
