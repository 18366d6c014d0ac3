-- The first part of the outbox has its outcome: take it off; after the last one finish its updates.
-- KEYS ready, outbox, sending, delivering, telegram, epoch
-- ARGV 1 group, 2 consumer, 3 entry, 4 delivery, 5 the part, 6 epoch, 7 now, 8 prefix of update keys,
--      9 seconds to keep a finished record, 10 Telegram message id, '-' for a part that has none, '' if nobody knows,
--      11 message id or '', 12 why it could not be delivered or '',
--      13 the part's number, 14 how it was sent (opaque): for operators, with the turn's first update
-- Returns ok (also for a repetition) | fenced | gone (the outbox was erased meanwhile)
local ready, outbox, sending, delivering, telegram_key, epoch_key = unpack(KEYS)
local group, consumer, entry, delivery, part, epoch, now, prefix, ttl = unpack(ARGV, 1, 9)
local telegram_id, message, undeliverable, number, how = unpack(ARGV, 10, 14)
if not is_held(ready, group, consumer, entry, delivery) then
  return 'fenced'
end
if redis.call('LINDEX', outbox, 0) ~= part then
  -- Under a claim that is held only a reset erases an outbox, and it raises the epoch. Else this went through before, and
  -- its reply was lost: who is told that it was erased would take away what the part has edited.
  return (redis.call('GET', epoch_key) or '0') == epoch and 'ok' or 'gone'
end
redis.call('LPOP', outbox)
for _, id in ipairs(redis.call('ZRANGE', delivering, 0, -1)) do
  if how ~= '' and redis.call('HEXISTS', prefix .. id, 'turn_of') == 0 then
    redis.call('HSET', prefix .. id, 'part:' .. number, now .. ' ' .. how .. ' ' .. telegram_id)
  end
end
if tonumber(telegram_id) and (redis.call('GET', epoch_key) or '0') == epoch then
  for _, id in ipairs(redis.call('ZRANGE', delivering, 0, -1)) do
    redis.call('HSET', prefix .. id, 'sent:' .. telegram_id, now)
  end
  if message ~= '' then
    link_telegram(telegram_key, message, telegram_id)
  end
end
if undeliverable ~= '' then
  redis.call('DEL', outbox)
elseif telegram_id == '' then
  -- Begun twice, and nobody knows whether it arrived: the record says so, and no third send risks another copy.
  for _, id in ipairs(redis.call('ZRANGE', delivering, 0, -1)) do
    redis.call('HSET', prefix .. id, 'reason', 'send_outcome_unknown')
  end
end
if redis.call('EXISTS', outbox) == 1 then
  redis.call('DEL', sending)
  return 'ok'
end
for _, id in ipairs(redis.call('ZRANGE', delivering, 0, -1)) do
  local ends_as, reason = unpack(redis.call('HMGET', prefix .. id, 'ends_as', 'reason'))
  redis.call('HDEL', prefix .. id, 'ends_as')
  if undeliverable ~= '' then
    finish_update(prefix .. id, 'ignored', undeliverable, now, ttl)
  else
    finish_update(prefix .. id, ends_as or 'answered', reason or '', now, ttl)
  end
end
redis.call('DEL', sending, delivering)
return 'ok'
