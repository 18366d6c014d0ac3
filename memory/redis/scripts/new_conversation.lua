-- Begin a new conversation if the context was not reset since `epoch`.
-- KEYS: meta, summaries, lineage, epoch
-- ARGV: epoch
-- Reply: the sequence at which it starts, or nil when the context was reset: then nothing is written.
if (redis.call('GET', KEYS[4]) or '0') ~= ARGV[1] then
  return false
end
return start_conversation(KEYS[1], KEYS[2], KEYS[3])
