-- Count what is kept of one context beside its messages.
-- KEYS: summaries, lineage, ledger, artifacts, people, senders, sessions, heard
-- ARGV: prefix of artifact keys
-- Reply: {summaries, ledger turns, artifacts that have not ended, people, beginnings of sessions, heard lines}
local summaries_key, lineage, ledger, artifacts, people, senders, sessions, heard = unpack(KEYS)
local kept = 0
for _, id in ipairs(redis.call('ZRANGE', artifacts, 0, -1)) do
  kept = kept + redis.call('EXISTS', ARGV[1] .. id)
end
local summaries = 0
for _, field in ipairs(redis.call('HKEYS', summaries_key)) do
  if string.sub(field, 1, 7) ~= 'covers:' then
    summaries = summaries + 1
  end
end
return {
  math.max(summaries, redis.call('ZCARD', lineage)),
  redis.call('ZCARD', ledger),
  kept,
  math.max(redis.call('HLEN', people), redis.call('HLEN', senders)),
  redis.call('ZCARD', sessions),
  redis.call('ZCARD', heard),
}
