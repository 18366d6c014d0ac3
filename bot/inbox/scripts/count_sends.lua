-- Set how many sends of the outbox's first part have an unknown outcome. Repeating is harmless. It runs right before
-- each send that its commit has not counted. So a worker that has lost its context, or whose outbox was erased, sends
-- nothing.
-- USES: fence
-- KEYS: ready outbox sending box delivering update
-- ARGV: fence:held part begun look:number
-- look: if updates wait in the box, return at most so many and count nothing
-- Returns {ok} | {gone} (the outbox was erased meanwhile)
-- | {waiting, first update of the turn that is delivered or '', payload of an update that waits, …}
if redis.call('LINDEX', outbox, 0) ~= part then return { 'gone' } end
if look and redis.call('EXISTS', box) == 1 then
  local reply = { 'waiting', '' }
  for _, id in ipairs(redis.call('ZRANGE', delivering, 0, -1)) do
    if redis.call('HEXISTS', update .. ':' .. id, 'turn_of') == 0 then reply[2] = id end
  end
  for _, id in ipairs(redis.call('ZRANGE', box, 0, look - 1)) do
    reply[#reply + 1] = redis.call('HGET', update .. ':' .. id, 'payload')
  end
  return reply
end
-- First a write that needs no memory: a full server refuses a script at its first write, and never later.
redis.call('DEL', sending)
redis.call('SET', sending, begun)
return { 'ok' }
