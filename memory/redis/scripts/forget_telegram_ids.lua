-- A group has become a supergroup, whose messages are numbered anew: forget the Telegram ids of its messages, once.
-- KEYS: telegram, meta, epoch
-- ARGV: epoch, the supergroup's id
-- Reply: 1 if they were forgotten now, 0 if they were before, nil after a reset
local telegram, meta, epoch_key = unpack(KEYS)
if (redis.call('GET', epoch_key) or '0') ~= ARGV[1] then
  return nil
end
if redis.call('HGET', meta, 'migrated_to') == ARGV[2] then
  return 0
end
redis.call('HSET', meta, 'migrated_to', ARGV[2])
unlink_all_telegram(telegram)
return 1
