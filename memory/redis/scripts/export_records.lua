-- Read everything of one context for its file, except messages, ledger and the text of artifacts, at one moment.
-- USES: named
-- KEYS: epoch meta people senders sessions lineage summaries artifacts talk facts choices reminders
-- Reply, named: epoch; meta, people, senders, facts, choices, reminders {field, value, ...}; sessions {sequence, ...};
--   texts {summary (JSON), what it covers (JSON), ...} oldest first; artifacts {id, ...}; talk {line, score, ...}
local reply = {
  epoch = redis.call('GET', epoch),
  sessions = redis.call('ZRANGE', sessions, 0, -1),
  artifacts = redis.call('ZRANGE', artifacts, 0, -1),
  talk = redis.call('ZRANGE', talk, 0, -1, 'WITHSCORES'),
  texts = {},
}
for _, id in ipairs(redis.call('ZRANGE', lineage, 0, -1)) do
  reply.texts[#reply.texts + 1] = redis.call('HGET', summaries, id) or ''
  reply.texts[#reply.texts + 1] = redis.call('HGET', summaries, 'covers:' .. id) or '[]'
end
for _, name in ipairs({ 'meta', 'people', 'senders', 'facts', 'choices', 'reminders' }) do
  reply[name] = redis.call('HGETALL', keys[name])
end
return named(reply)
