-- Read messages of one context by id, with their epoch, their sessions and the people of the context.
-- KEYS: messages order epoch people sessions
-- ARGV: ids...
-- Reply: {epoch, {id, sequence, json, ...} of those that exist, {sequence at which the session began, or '0', ...}
--         of the same, {sender id, name, ...}}
local rows, starts = {}, {}
for _, id in ipairs(ids) do
  local json = redis.call('HGET', messages, id)
  local sequence = redis.call('ZSCORE', order, id)
  if json and sequence then
    rows[#rows + 1] = id
    rows[#rows + 1] = sequence
    rows[#rows + 1] = json
    starts[#starts + 1] = redis.call('ZREVRANGEBYSCORE', sessions, sequence, '-inf', 'LIMIT', 0, 1)[1] or '0'
  end
end
return { redis.call('GET', epoch) or '0', rows, starts, redis.call('HGETALL', people) }
