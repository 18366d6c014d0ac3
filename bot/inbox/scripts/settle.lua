-- A piece of work on a context is done: let the context rest, go on, or (rotate) go to the end of the line.
-- KEYS ready, active, box, outbox   ARGV 1 group, 2 consumer, 3 entry, 4 delivery, 5 context, 6 rotate (1 | 0),
--      7 key of an update whose attempt is taken back, or ''
-- Returns idle | more | rotated | fenced
local ready, active, box, outbox = unpack(KEYS)
local group, consumer, entry, delivery, context, rotate, handed_back = unpack(ARGV)
if not is_held(ready, group, consumer, entry, delivery) then
  return 'fenced'
end
if handed_back ~= '' and redis.call('EXISTS', handed_back) == 1 then
  redis.call('HINCRBY', handed_back, 'attempts', -1)
end
local is_idle = redis.call('EXISTS', box, outbox) == 0
if not is_idle and rotate ~= '1' then
  return 'more'
end
redis.call('XACK', ready, group, entry)
redis.call('XDEL', ready, entry)
redis.call('HDEL', active, context)
if is_idle then
  return 'idle'
end
wake(ready, active, context)
return 'rotated'
