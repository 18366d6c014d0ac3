-- Append messages to one context if it was not reset since `epoch`.
-- KEYS: the eight of `append_messages`, epoch
-- ARGV: context_id, epoch, now, then the messages (read_messages)
-- Reply: their sequences, or nil when the context was reset: then nothing is written.
if (redis.call('GET', KEYS[9]) or '0') ~= ARGV[2] then
  return false
end
local list = read_messages(ARGV, 4)
return append_messages({ unpack(KEYS, 1, 8) }, ARGV[1], ARGV[2], ARGV[3], list)
