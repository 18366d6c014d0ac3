-- Put other parts in place of the outbox's first one, or of all.
-- USES: fence
-- KEYS: ready outbox sending box delivering erasures update
-- ARGV: fence:held part now change:json instead...
-- change: begun, the sends of the first new part, in any form, that have an unknown outcome; is_whole for all parts;
-- stopped_by, the waiting updates that have stopped the outbox and end here
-- Returns ok | fenced | gone (the outbox was erased meanwhile)
local first = redis.call('LINDEX', outbox, 0)
if first == instead[1] then
  return 'ok'  -- the second try of a replacement that was done
end
if first ~= part then return 'gone' end
if change.is_whole then
  redis.call('DEL', outbox)
else
  redis.call('LPOP', outbox)
end
for i = #instead, 1, -1 do redis.call('LPUSH', outbox, instead[i]) end
redis.call('SET', sending, change.begun)
if #change.stopped_by > 0 then
  redis.call('INCR', erasures)  -- nobody reads what was not sent
  for _, id in ipairs(redis.call('ZRANGE', delivering, 0, -1)) do
    redis.call('HSET', update .. ':' .. id, 'reason', 'stopped')
  end
end
for _, id in ipairs(change.stopped_by) do
  if redis.call('ZREM', box, id) == 1 then
    finish_update(update .. ':' .. id, 'answered', 'stop', now)
  end
end
return 'ok'
