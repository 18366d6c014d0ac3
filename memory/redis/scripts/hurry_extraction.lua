-- Make an extraction that waits due now; a claimed one stays as it is.
-- KEYS: extract
-- ARGV: context_id now:number
local score = tonumber(redis.call('ZSCORE', extract, context_id))
if score and score == math.floor(score) and score > now then
  redis.call('ZADD', extract, math.floor(now), context_id)
end
