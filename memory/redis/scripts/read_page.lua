-- Read a page of one context's messages. The cost is that of the page, whatever the history's length.
-- USES: read_rows
-- KEYS: messages order meta
-- ARGV: direction bound limit whole
-- direction: 'newest' or 'oldest' first; bound: an exclusive sequence or ''; whole: '1' for the whole history, '0' for
-- the current conversation.
-- Reply: {id, sequence, json, ...}
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
