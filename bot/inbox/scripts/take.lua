-- What there is to do for a claimed context: its pending updates, the journal of an interrupted turn, the parts
-- not yet delivered. An update that has been begun too often is dead-lettered here, and the rest goes on.
-- KEYS ready, box, journal, outbox, sending, stop, dead
-- ARGV 1 group, 2 consumer, 3 entry, 4 delivery, 5 prefix of update keys, 6 updates at most, 7 attempts at most, 8 now
-- Returns fenced, or {ok, {id, payload, …}, {journal field, value, …}, {part, …}, sends begun, stop id, {dead id, payload, …}}
local ready, box, journal, outbox, sending, stop, dead = unpack(KEYS)
local group, consumer, entry, delivery, prefix, at_most, attempts_at_most, now = unpack(ARGV)
if not is_held(ready, group, consumer, entry, delivery) then
  return { 'fenced' }
end

local buried = {}
local parts = redis.call('LRANGE', outbox, 0, -1)
if #parts == 0 then
  local head = redis.call('ZRANGE', box, 0, 0)[1]
  while head and tonumber(redis.call('HGET', prefix .. head, 'attempts') or '0') >= tonumber(attempts_at_most) do
    redis.call('HSET', prefix .. head, 'state', 'dead', 'reason', 'interrupted too often', 'finished_at', now)
    redis.call('ZADD', dead, now, head)
    redis.call('ZREM', box, head)
    redis.call('DEL', journal)
    buried[#buried + 1] = head
    buried[#buried + 1] = redis.call('HGET', prefix .. head, 'payload')
    head = redis.call('ZRANGE', box, 0, 0)[1]
  end
  if head and #buried == 0 then  -- after a burial the caller only apologises: the next update is not begun yet
    redis.call('HINCRBY', prefix .. head, 'attempts', 1)
  end
end

local updates = {}
for _, id in ipairs(redis.call('ZRANGE', box, 0, at_most - 1)) do
  updates[#updates + 1] = id
  updates[#updates + 1] = redis.call('HGET', prefix .. id, 'payload')
end
return {
  'ok',
  updates,
  redis.call('HGETALL', journal),
  parts,
  redis.call('GET', sending) or '0',
  redis.call('GET', stop) or '0',
  buried,
}
