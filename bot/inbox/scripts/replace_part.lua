-- Put other parts in the place of the outbox's first one.
-- KEYS ready, outbox, sending
-- ARGV 1 fence (JSON), 2 the part, 3 how many sends of the first one of those in its place have an
--      open outcome, then those parts
-- Returns ok | fenced | gone (the outbox was erased meanwhile)
local fence, part, begun = cjson.decode(ARGV[1]), ARGV[2], ARGV[3]
if not is_held(KEYS[1], fence) then
  return 'fenced'
end
local first = redis.call('LINDEX', KEYS[2], 0)
if first == ARGV[4] then
  return 'ok'  -- a second try of what went through
end
if first ~= part then
  return 'gone'
end
redis.call('LPOP', KEYS[2])
for i = #ARGV, 4, -1 do
  redis.call('LPUSH', KEYS[2], ARGV[i])
end
redis.call('SET', KEYS[3], begun)
return 'ok'
