-- Set how many sends of the outbox's first part were begun whose outcome is open: repeating is harmless. Right before each
-- send, so that a worker that has lost its context, or whose outbox was erased, sends nothing.
-- KEYS ready, outbox, sending   ARGV 1 fence (JSON), 2 the part, 3 the number
-- Returns ok | fenced | gone (the outbox was erased meanwhile)
local fence, part, begun = cjson.decode(ARGV[1]), ARGV[2], ARGV[3]
if not is_held(KEYS[1], fence) then
  return 'fenced'
end
if redis.call('LINDEX', KEYS[2], 0) ~= part then
  return 'gone'
end
-- First what needs no memory: a full server refuses a script at its first write, and never later.
redis.call('DEL', KEYS[3])
redis.call('SET', KEYS[3], begun)
return 'ok'
