-- Read messages of one context by id, with their epoch, their sessions, the people of the context, and facts.
-- USES: cited_facts
-- KEYS: messages order epoch people sessions cited facts
-- ARGV: ids...
-- Reply: {epoch, {id, sequence, json, ...} of those that exist, {sequence at which the session began, or '0', ...}
--         of the same, {sender id, name, ...}, {{fact, ...} that cite the message, ...} of the same}
local rows, starts, citing = {}, {}, {}
for _, id in ipairs(ids) do
  local json = redis.call('HGET', messages, id)
  local sequence = redis.call('ZSCORE', order, id)
  if json and sequence then
    rows[#rows + 1] = id
    rows[#rows + 1] = sequence
    rows[#rows + 1] = json
    starts[#starts + 1] = redis.call('ZREVRANGEBYSCORE', sessions, sequence, '-inf', 'LIMIT', 0, 1)[1] or '0'
    citing[#citing + 1] = cited_facts(keys, id)
  end
end
return { redis.call('GET', epoch) or '0', rows, starts, redis.call('HGETALL', people), citing }
