-- Set how many sends of the outbox's first part have an unknown outcome. Repeating is harmless. It runs right before
-- each send that its commit has not counted. So a worker that has lost its context, or whose outbox was erased, sends
-- nothing.
-- USES: fence
-- KEYS: ready outbox sending
-- ARGV: fence:json part begun
-- Returns ok | fenced | gone (the outbox was erased meanwhile)
if not is_held(ready, fence) then
  return 'fenced'
end
if redis.call('LINDEX', outbox, 0) ~= part then
  return 'gone'
end
-- First a write that needs no memory: a full server refuses a script at its first write, and never later.
redis.call('DEL', sending)
redis.call('SET', sending, begun)
return 'ok'
