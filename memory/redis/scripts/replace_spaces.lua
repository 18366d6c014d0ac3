-- Replace the record of the spaces if it has not changed.
-- KEYS: spaces
-- ARGV: before after
-- Both are JSON; `before` is '' if there was no record.
-- Reply: 1, or 0 without a change if another process was faster.

if (redis.call('GET', spaces) or '') ~= before then return 0 end
redis.call('SET', spaces, after)
return 1
