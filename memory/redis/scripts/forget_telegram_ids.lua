-- Forget the Telegram ids of a group's messages once, because its supergroup numbers messages from 1 again.
-- USES: telegram_index
-- KEYS: telegram meta epoch
-- ARGV: expected_epoch:current supergroup
-- Returns 1 if they were forgotten now, 0 if they were before.
if redis.call('HGET', meta, 'migrated_to') == supergroup then return 0 end
redis.call('HSET', meta, 'migrated_to', supergroup)
unlink_all_telegram(telegram)
return 1
