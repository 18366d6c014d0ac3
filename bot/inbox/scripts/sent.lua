-- Take the first part off the outbox: its outcome is known. After the last one finish its updates, and settle the context
-- if nothing waits in its box.
-- USES: fence telegram_index counters incognito
-- KEYS: ready active box outbox sending delivering files telegram epoch counts erasures incognito update
-- ARGV: fence:json part expected_epoch now outcome:json
-- outcome: telegram_id is "-" for a part that no message shows, and "" if nobody knows whether it arrived;
-- photo: the file id of a photo
-- Returns ok | settled (the claim has ended) | fenced | gone (the outbox was erased meanwhile). A repetition whose first
-- reply was lost gets that reply again, if the part belongs to an update.

-- Seconds in which the store's file is surely not rewritten after an erasure: GATHER_S (memory/embedded/file_rewriter.py)
-- is longer.
local QUICK_S = 1

local this, prefix = cjson.decode(part), update .. ':'

-- Return true if a file that was rewritten since the commit may have words of the outbox that were erased meanwhile, or
-- words that are kept nowhere: an inline question, or an answer in incognito.
local function may_stay_in_files(updates)
  local committed = now
  for _, update in ipairs(updates) do
    committed = math.min(committed, redis.call('HGET', update, 'committed_at') or now)
  end
  return now - committed > QUICK_S or this.inline_id or this.is_kept == false
end

-- Return true if this claim has taken the part off the outbox before. The note in the update's record says so.
local function is_done()
  local id = digits(this.update_id)
  local first = redis.call('HGET', prefix .. id, 'turn_of') or id
  local note = redis.call('HGET', prefix .. first, 'part:' .. digits(this.number))
  return note and cjson.decode(note).claim == attempt_of(fence)
end

-- Count how long the turn took: from its first update to its begin, to its commit, to its last part.
local function count_times(received, begun, committed)
  if received and begun and committed then
    count_up(counts, now, {
      level_of('waiting', begun - received), 1,
      level_of('answering', committed - begun), 1,
      level_of('delivering', now - committed), 1,
      level_of('whole', now - received), 1,
    })
  end
end

if not is_held(ready, fence) then return is_done() and 'settled' or 'fenced' end
local is_current = (redis.call('GET', epoch) or '0') == expected_epoch
if redis.call('LINDEX', outbox, 0) ~= part then
  -- Under a claim that holds only a reset erases an outbox, and it raises the epoch. Otherwise this was done before,
  -- and its reply was lost: after a "gone" the caller would delete the messages that its parts have edited.
  return is_current and 'ok' or 'gone'
end
redis.call('LPOP', outbox)
if this.is_kept == false then note_answer(incognito, now) end
local telegram_id, note, updates = outcome.telegram_id, outcome.note, {}
local is_lost, is_shown = outcome.undeliverable ~= '', tonumber(telegram_id) and is_current
if note then
  note.at, note.telegram_id, note.claim = tonumber(now), tonumber(telegram_id), attempt_of(fence)
end
for number, id in ipairs(redis.call('ZRANGE', delivering, 0, -1)) do
  local record = prefix .. id
  updates[number] = record
  if note and redis.call('HEXISTS', record, 'turn_of') == 0 then
    redis.call('HSET', record, 'part:' .. note.number, cjson.encode(note))
  end
  if is_shown then redis.call('HSET', record, 'sent:' .. telegram_id, now) end
  -- It was sent twice, and nobody knows whether it arrived: no third send risks another copy.
  if telegram_id == '' and not is_lost then redis.call('HSET', record, 'reason', 'send_outcome_unknown') end
end
if is_shown and outcome.message_id ~= '' then
  link_telegram(telegram, outcome.message_id, telegram_id)
  if outcome.photo then add_word(telegram, 'photos:' .. outcome.message_id, outcome.photo) end
end
if is_lost then redis.call('DEL', outbox) end
if redis.call('EXISTS', outbox) == 1 then
  redis.call('DEL', sending)
  return 'ok'
end
if may_stay_in_files(updates) then redis.call('INCR', erasures) end
for _, update in ipairs(updates) do
  local ends_as, reason = unpack(redis.call('HMGET', update, 'ends_as', 'reason'))
  redis.call('HDEL', update, 'ends_as')
  if is_lost then ends_as, reason = 'ignored', outcome.undeliverable end
  finish_update(update, ends_as or 'answered', reason or '', now)
  if not is_lost and redis.call('HSTRLEN', update, 'turn') > 0 then
    count_times(unpack(redis.call('HMGET', update, 'received_at', 'begun_at', 'committed_at')))
  end
end
redis.call('DEL', sending, delivering)
redis.call('UNLINK', files)
-- After an undeliverable part the caller still deletes messages of this answer under its claim.
if is_lost or redis.call('EXISTS', box) == 1 then return 'ok' end
end_claim(ready, active, outcome.context_id, fence)
return 'settled'
