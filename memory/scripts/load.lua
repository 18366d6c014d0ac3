-- Read a slice of one context's messages, and what a turn must know of it, in one round trip.
-- KEYS: messages, order, meta, epoch
-- ARGV: direction ('newest' first or 'oldest' first), bound (an exclusive sequence or ''), limit,
--       whole ('1': the whole history, '0': the current conversation)
-- Reply: {epoch, count, conversation count, conversation start, next sequence, created_at or '',
--         {id, sequence, json, ...}}. The cost is that of the slice, whatever the history's length.
local messages, order, meta, epoch = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local direction, bound, limit, whole = ARGV[1], ARGV[2], ARGV[3], ARGV[4]

local facts = redis.call('HMGET', meta, 'conversation_start', 'next_sequence', 'created_at')
local start = facts[1] or '0'
local lowest = whole == '1' and '-inf' or start

local slice
if direction == 'oldest' then
  if bound ~= '' and (whole == '1' or tonumber(bound) >= tonumber(start)) then
    lowest = '(' .. bound
  end
  slice = redis.call('ZRANGEBYSCORE', order, lowest, '+inf', 'WITHSCORES', 'LIMIT', 0, limit)
else
  local highest = bound ~= '' and ('(' .. bound) or '+inf'
  slice = redis.call('ZREVRANGEBYSCORE', order, highest, lowest, 'WITHSCORES', 'LIMIT', 0, limit)
end

local found = {}
for at = 1, #slice, 2 do
  local json = redis.call('HGET', messages, slice[at])
  if json then
    found[#found + 1] = slice[at]
    found[#found + 1] = slice[at + 1]
    found[#found + 1] = json
  end
end

return {
  redis.call('GET', epoch) or '0',
  math.max(redis.call('HLEN', messages), redis.call('ZCARD', order)),
  redis.call('ZCOUNT', order, start, '+inf'),
  start,
  facts[2] or '0',
  facts[3] or '',
  found,
}
