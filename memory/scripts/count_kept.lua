-- Count what is kept of one context beside its messages.
-- KEYS: summaries, lineage, ledger, artifacts
-- ARGV: prefix of artifact keys
-- Reply: {summaries, ledger turns, artifacts that have not ended}
local kept = 0
for _, id in ipairs(redis.call('ZRANGE', KEYS[4], 0, -1)) do
  kept = kept + redis.call('EXISTS', ARGV[1] .. id)
end
local summaries = 0
for _, field in ipairs(redis.call('HKEYS', KEYS[1])) do
  if string.sub(field, 1, 7) ~= 'covers:' then
    summaries = summaries + 1
  end
end
return { math.max(summaries, redis.call('ZCARD', KEYS[2])), redis.call('ZCARD', KEYS[3]), kept }
