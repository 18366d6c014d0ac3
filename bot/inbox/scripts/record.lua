-- Record finished steps of the running turn.
-- USES: fence
-- KEYS: ready epoch journal stop box
-- ARGV: fence:json expected_epoch newest fields...
-- newest: the newest update id of the turn; fields: step, value, …
-- Returns ok | stopped (recorded, but a /stop has come) | fenced | forgotten (nothing recorded)
if not is_held(ready, fence) then
  return 'fenced'
end
-- A turn that read between a reset's two sides has the new epoch and an update that is forgotten.
if (redis.call('GET', epoch) or '0') ~= expected_epoch or not redis.call('ZSCORE', box, newest) then
  return 'forgotten'
end
redis.call('HSET', journal, unpack(fields))
local stopped_before = redis.call('GET', stop)
if stopped_before and tonumber(stopped_before) > tonumber(newest) then
  return 'stopped'
end
return 'ok'
