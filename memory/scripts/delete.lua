-- Delete messages of one context if it was not reset since `epoch`, and queue the removal of their vectors.
-- KEYS: messages, order, telegram, work, epoch
-- ARGV: context_id, epoch, ids ...
-- Reply: how many were there, or nil when the context was reset: then nothing is written.
if (redis.call('GET', KEYS[5]) or '0') ~= ARGV[2] then
  return false
end
local deleted = 0
for at = 3, #ARGV do
  local id = ARGV[at]
  local was_kept = redis.call('HDEL', KEYS[1], id)
  local was_listed = redis.call('ZREM', KEYS[2], id)
  unlink_telegram(KEYS[3], id)
  if was_kept + was_listed > 0 then
    deleted = deleted + 1
    redis.call('XADD', KEYS[4], '*', 'op', 'drop', 'context', ARGV[1], 'epoch', ARGV[2], 'id', id)
  end
end
return deleted
