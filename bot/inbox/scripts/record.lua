-- Record finished steps of the running turn.
-- USES: fence
-- KEYS: ready epoch journal stop box
-- ARGV: fence:held expected_epoch:current newest order_id:number fields...
-- newest: the newest update of the turn; order_id: a stop with a higher id ends it; fields: step, value, …
-- Returns ok | stopped (recorded, but a /stop has come) | fenced | forgotten (nothing recorded)
-- A turn that read between a reset's two sides has the new epoch and an update that is forgotten.
if not redis.call('ZSCORE', box, newest) then return 'forgotten' end
redis.call('HSET', journal, unpack(fields))
local stopped_before = redis.call('GET', stop)
if stopped_before and tonumber(stopped_before) > order_id then return 'stopped' end
return 'ok'
