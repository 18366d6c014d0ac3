-- Read messages of one context by id, with their epoch, their sessions, the people of the context, and facts.
-- USES: named cited_facts
-- KEYS: messages order epoch people sessions cited facts
-- ARGV: ids...
-- Reply, named: epoch, rows {id, sequence, json, ...} of those that exist, starts {sequence at which the session began,
--   or '0', ...} of the same, people {sender id, name, ...}, facts {{fact, ...} that cite the message, ...} of the same
local rows, starts, citing = {}, {}, {}
for _, id in ipairs(ids) do
  local json = redis.call('HGET', messages, id)
  local sequence = redis.call('ZSCORE', order, id)
  if json and sequence then
    add_all(rows, { id, sequence, json })
    starts[#starts + 1] = redis.call('ZREVRANGEBYSCORE', sessions, sequence, '-inf', 'LIMIT', 0, 1)[1] or '0'
    citing[#citing + 1] = cited_facts(keys, id)
  end
end
return named({
  epoch = redis.call('GET', epoch), rows = rows, starts = starts, people = redis.call('HGETALL', people), facts = citing,
})
