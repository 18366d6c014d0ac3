-- Record one finished step of the running turn.
-- KEYS ready, epoch, journal, stop, box
-- ARGV 1 fence (JSON), 2 epoch, 3 newest update id of the turn, 4… field, value, …
-- Returns ok | stopped (recorded, but a /stop has come) | fenced | forgotten (nothing recorded)
local ready, epoch_key, journal, stop, box = unpack(KEYS)
local fence, epoch, newest = cjson.decode(ARGV[1]), ARGV[2], ARGV[3]
if not is_held(ready, fence) then
  return 'fenced'
end
-- A turn that read between a reset's two sides has the new epoch and an update that is forgotten.
if (redis.call('GET', epoch_key) or '0') ~= epoch or not redis.call('ZSCORE', box, newest) then
  return 'forgotten'
end
redis.call('HSET', journal, unpack(ARGV, 4))
local stopped_before = redis.call('GET', stop)
if stopped_before and tonumber(stopped_before) > tonumber(newest) then
  return 'stopped'
end
return 'ok'
