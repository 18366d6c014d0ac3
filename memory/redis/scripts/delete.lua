-- Delete messages of one context, and the quotations of others, if it was not reset since `epoch`.
-- KEYS: as `delete_messages` takes them, erasures
-- ARGV: context_id, epoch, prefix of artifact keys, number of ids, ids ..., Telegram ids of what is to be quoted no more ...
-- Reply: that of `delete_messages`, or nil when the context was reset: then nothing is written.
local context, epoch, artifact_prefix, count = unpack(ARGV, 1, 4)
if (redis.call('GET', KEYS[9]) or '0') ~= epoch then
  return false
end
local ids, quoted = {}, {}
for at = 5, #ARGV do
  if at <= 4 + tonumber(count) then
    ids[#ids + 1] = ARGV[at]
  else
    quoted[#quoted + 1] = ARGV[at]
  end
end
local reply = delete_messages(KEYS, context, epoch, artifact_prefix, ids, quoted)
redis.call('INCR', KEYS[15])  -- last: a full server refuses a script whose first write needs memory
return reply
