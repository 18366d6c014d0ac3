-- Read messages of one context by sequence, each with those beside it in its session.
-- KEYS: messages, order, sessions
-- ARGV: how many before and after each, the sequences ...
-- Reply: for each sequence {id, sequence, json, ...}, oldest first; without those that are not there.
local messages, order, sessions = unpack(KEYS)
local reach = tonumber(ARGV[1])
local replies = {}
for at = 2, #ARGV do
  local sequence = ARGV[at]
  local began = redis.call('ZREVRANGEBYSCORE', sessions, sequence, '-inf', 'LIMIT', 0, 1)[1]
  local next_one = redis.call('ZRANGEBYSCORE', sessions, '(' .. sequence, '+inf', 'LIMIT', 0, 1)[1]
  local ends = next_one and '(' .. next_one or '+inf'
  local slice = {}
  local before = redis.call('ZREVRANGEBYSCORE', order, sequence, began or '-inf', 'WITHSCORES', 'LIMIT', 0, reach + 1)
  for place = #before - 1, 1, -2 do
    slice[#slice + 1] = before[place]
    slice[#slice + 1] = before[place + 1]
  end
  for _, value in ipairs(redis.call('ZRANGEBYSCORE', order, '(' .. sequence, ends, 'WITHSCORES', 'LIMIT', 0, reach)) do
    slice[#slice + 1] = value
  end
  replies[#replies + 1] = read_rows(messages, slice)
end
return replies
