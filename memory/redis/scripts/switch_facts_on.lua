-- Turn facts on again, of a person or of the whole context. Only what is said from now on is read.
-- KEYS: choices meta
-- ARGV: person of_context
-- person: sender id, or ''; of_context: '1' for the whole context
if of_context == '1' then redis.call('HSET', choices, 'facts', 'on') end
if person ~= '' and redis.call('HDEL', choices, 'off:' .. person) == 1 then
  local next_sequence = redis.call('HGET', meta, 'next_sequence')
  if next_sequence then redis.call('HSET', meta, 'facts_since:' .. person, next_sequence) end
end
