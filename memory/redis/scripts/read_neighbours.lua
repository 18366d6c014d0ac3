-- Read messages of one context by sequence, each with its neighbours in the same session and the facts that cite it.
-- USES: read_rows cited_facts
-- KEYS: messages order sessions cited facts
-- ARGV: reach:number sequences...
-- Reply: for each sequence {{id, sequence, json, ...}, {fact, ...}}, the messages oldest first, without those that do not
-- exist.

-- Return {id, sequence, ...} of the message and its neighbours, oldest first.
local function slice_around(sequence)
  if reach == 0 then
    return redis.call('ZRANGEBYSCORE', order, sequence, sequence, 'WITHSCORES', 'LIMIT', 0, 1)
  end
  local start = redis.call('ZREVRANGEBYSCORE', sessions, sequence, '-inf', 'LIMIT', 0, 1)[1]
  local next_start = redis.call('ZRANGEBYSCORE', sessions, '(' .. sequence, '+inf', 'LIMIT', 0, 1)[1]
  local before = redis.call('ZREVRANGEBYSCORE', order, sequence, start or '-inf', 'WITHSCORES', 'LIMIT', 0, reach + 1)
  local first, stop = before[#before] or sequence, next_start and '(' .. next_start or '+inf'
  return redis.call('ZRANGEBYSCORE', order, first, stop, 'WITHSCORES', 'LIMIT', 0, #before / 2 + reach)
end

local replies, has_facts = {}, redis.call('EXISTS', cited) == 1
for _, sequence in ipairs(sequences) do
  local slice, found = slice_around(sequence), {}
  for place = 2, has_facts and #slice or 0, 2 do
    if tonumber(slice[place]) == tonumber(sequence) then
      found = cited_facts(keys, slice[place - 1])
    end
  end
  replies[#replies + 1] = { read_rows(messages, slice), found }
end
return replies
