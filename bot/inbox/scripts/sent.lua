-- The first part of the outbox has its outcome: take it off; after the last one finish its updates.
-- KEYS ready, outbox, sending, delivering, telegram, epoch
-- ARGV 1 fence (JSON), 2 the part, 3 epoch, 4 now, 5 prefix of update keys,
--      6 seconds to keep a finished record, 7 Telegram message id, '-' for a part that has none, '' if nobody knows,
--      8 message id or '', 9 why it could not be delivered or '',
--      10 the part's number, 11 how it was sent (JSON): for operators, with the turn's first update
-- Returns ok (also for a repetition) | fenced | gone (the outbox was erased meanwhile)
local ready, outbox, sending, delivering, telegram_key, epoch_key = unpack(KEYS)
local fence, part, epoch, now, prefix, ttl = cjson.decode(ARGV[1]), unpack(ARGV, 2, 6)
local telegram_id, message, undeliverable, number, how = unpack(ARGV, 7, 11)
if not is_held(ready, fence) then
  return 'fenced'
end
if redis.call('LINDEX', outbox, 0) ~= part then
  -- Under a claim that is held only a reset erases an outbox, and it raises the epoch. Else this went through before, and
  -- its reply was lost: who is told that it was erased would take away what the part has edited.
  return (redis.call('GET', epoch_key) or '0') == epoch and 'ok' or 'gone'
end
redis.call('LPOP', outbox)
if how ~= '' then
  local note = cjson.decode(how)
  note.at, note.telegram_id = tonumber(now), tonumber(telegram_id)
  for _, id in ipairs(redis.call('ZRANGE', delivering, 0, -1)) do
    if redis.call('HEXISTS', prefix .. id, 'turn_of') == 0 then
      redis.call('HSET', prefix .. id, 'part:' .. number, cjson.encode(note))
    end
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
