-- Count what is stored of one context besides its messages.
-- KEYS: summaries lineage ledger artifacts people senders sessions talk
-- ARGV: artifact_prefix
-- Reply: {summaries, ledger turns, artifacts that have not expired, people, sessions, lines of talk}
local live = 0
for _, id in ipairs(redis.call('ZRANGE', artifacts, 0, -1)) do
  live = live + redis.call('EXISTS', artifact_prefix .. id)
end
local texts = 0
for _, field in ipairs(redis.call('HKEYS', summaries)) do
  if string.sub(field, 1, 7) ~= 'covers:' then
    texts = texts + 1
  end
end
return {
  math.max(texts, redis.call('ZCARD', lineage)),
  redis.call('ZCARD', ledger),
  live,
  math.max(redis.call('HLEN', people), redis.call('HLEN', senders)),
  redis.call('ZCARD', sessions),
  redis.call('ZCARD', talk),
}
