-- Count a failure of claimed work: it is due again after a pause. After one more than there are pauses it is given up.
-- KEYS: queue meta
-- ARGV: context_id token failures now:number pauses...
-- failures: the field that counts them; pauses: seconds after the first failure, the second, ...
-- Reply: later | given_up (the claim stays, so that its finish can end it) |
--        lost (the claim is not ours any more: nothing is written)
if redis.call('ZSCORE', queue, context_id) ~= token then return 'lost' end
local pause = pauses[redis.call('HINCRBY', meta, failures, 1)]
if not pause then return 'given_up' end
redis.call('ZADD', queue, math.floor(now + tonumber(pause)), context_id)
return 'later'
