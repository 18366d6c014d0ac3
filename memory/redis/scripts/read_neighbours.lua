-- Read messages of one context by sequence, each with its neighbours in the same session.
-- USES: read_rows
-- KEYS: messages order sessions
-- ARGV: reach:number sequences...
-- Reply: for each sequence {id, sequence, json, ...}, oldest first, without messages that do not exist.
local replies = {}
for _, sequence in ipairs(sequences) do
  local start = redis.call('ZREVRANGEBYSCORE', sessions, sequence, '-inf', 'LIMIT', 0, 1)[1]
  local next_start = redis.call('ZRANGEBYSCORE', sessions, '(' .. sequence, '+inf', 'LIMIT', 0, 1)[1]
  local stop = next_start and '(' .. next_start or '+inf'
  local slice = {}
  local before = redis.call('ZREVRANGEBYSCORE', order, sequence, start or '-inf', 'WITHSCORES', 'LIMIT', 0, reach + 1)
  for place = #before - 1, 1, -2 do
    slice[#slice + 1] = before[place]
    slice[#slice + 1] = before[place + 1]
  end
  for _, value in ipairs(redis.call('ZRANGEBYSCORE', order, '(' .. sequence, stop, 'WITHSCORES', 'LIMIT', 0, reach)) do
    slice[#slice + 1] = value
  end
  replies[#replies + 1] = read_rows(messages, slice)
end
return replies
