-- Read a page of one context's messages.
-- KEYS: messages, order, meta
-- ARGV: direction ('newest' first or 'oldest' first), bound (an exclusive sequence or ''), limit,
--       whole ('1': the whole history, '0': the current conversation)
-- Reply: {id, sequence, json, ...}. The cost is that of the page, whatever the history's length.
local messages, order, meta = unpack(KEYS)
local direction, bound, limit, whole = unpack(ARGV)
local start = redis.call('HGET', meta, 'conversation_start') or '0'
local lowest = whole == '1' and '-inf' or start

if direction == 'oldest' then
  if bound ~= '' and (whole == '1' or tonumber(bound) >= tonumber(start)) then
    lowest = '(' .. bound
  end
  return read_rows(messages, redis.call('ZRANGEBYSCORE', order, lowest, '+inf', 'WITHSCORES', 'LIMIT', 0, limit))
end
local highest = bound ~= '' and ('(' .. bound) or '+inf'
return read_rows(messages, redis.call('ZREVRANGEBYSCORE', order, highest, lowest, 'WITHSCORES', 'LIMIT', 0, limit))
