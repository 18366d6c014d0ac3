-- Commit a turn: all of it, or nothing.
-- Order: delete the messages of the turn that it answers again, append its own with what it called, put its parts into
-- the outbox, take its updates out of the box, forget its journal.
-- USES: fence append_messages delete_messages start_conversation counters note_unread incognito
-- KEYS: ready box journal outbox sending delivering epoch messages order telegram meta work people senders sessions
-- KEYS: contexts summaries lineage ledger receipts compress artifacts counts facts fact_order cited standing unread choices extract
-- KEYS: reminders due files erasures incognito update artifact receipt
-- ARGV: fence:held expected_epoch:current now changes:json settings:json counted...
-- changes: a turn, as _changes has it (bot/turn/store.py). settings: how much to keep for how many seconds, and the
-- revision that the turn has read, "" if it depends on no message. counted: name, amount, …
-- Returns ok | already (this commit was done before) | fenced | forgotten
-- | changed (messages were deleted or edited since the turn read the history)
-- With `begins_send` the first send counts as begun: it follows at once, or count_sends.lua takes the count back.
-- A commit without updates is an apology; its first part shows whether it was done before.

-- Keep the receipt of an answer. Drop those that have expired, and all but the newest. Erase the keys as well: clocks may
-- disagree, and no receipt may outlive its place in the list.
local function keep_receipt(id, line)
  redis.call('SET', receipt .. ':' .. id, line, 'EX', settings.receipt_ttl)
  redis.call('ZADD', receipts, now + settings.receipt_ttl, id)
  redis.call('EXPIRE', receipts, settings.receipt_ttl)
  local dropped = redis.call('ZRANGEBYSCORE', receipts, '-inf', now, 'LIMIT', 0, 100)
  add_all(dropped, redis.call('ZRANGE', receipts, 0, -1 - settings.receipts_kept))
  for _, old in ipairs(dropped) do drop_listed(receipts, receipt, old) end
end

-- Return true if words end with this update that no message keeps. An edit ends the words that it has replaced. The words
-- of an inline question, of a question that a limit refused, and of a command's argument are kept nowhere. Nor is anything
-- of incognito.
local function ends_words(payload, changes)
  local admission = fields_of(payload).admission or {}
  local action = admission.action
  local _, is_answer = incognito_of(incognito, telegram, payload, now)
  if is_answer then
    return true
  elseif action == 'edit' then
    return changes.reason ~= 'edit_changes_nothing'
  elseif action == 'command' then
    return (admission.command or {}).argument ~= ''
  end
  return action ~= 'press' and action ~= 'refuse' and #changes.messages.rows == 0
end

local prefix, parts, context = update .. ':', changes.parts, changes.context_id
local first_id = changes.update_ids[1]
if first_id and not redis.call('ZSCORE', box, first_id) then
  local became = redis.call('HGET', prefix .. first_id, 'state') or 'forgotten'
  return became == 'forgotten' and became or 'already'
end
if not first_id and redis.call('LINDEX', outbox, 0) == parts[1] then return 'already' end
if settings.revision ~= '' and (redis.call('HGET', meta, 'revision') or '0') ~= settings.revision then
  return 'changed'
end

local has_ended_words = false
for number, id in ipairs(changes.update_ids) do
  has_ended_words = has_ended_words or ends_words(redis.call('HGET', prefix .. id, 'payload') or '', changes)
  redis.call('ZREM', box, id)
  if number > 1 then
    redis.call('HSET', prefix .. id, 'turn_of', first_id)
  else
    redis.call('HSET', prefix .. id, 'committed_at', now, 'turn', changes.trace)
  end
  if #parts > 0 then
    redis.call('HSET', prefix .. id, 'state', 'delivering', 'ends_as', changes.state, 'reason', changes.reason)
    redis.call('HDEL', prefix .. id, 'payload')
    redis.call('ZADD', delivering, id, id)
  else
    finish_update(prefix .. id, changes.state, changes.reason, now)
  end
end

-- The messages' own turn of the ledger goes with them, before the new one is written.
if #changes.deletes > 0 then delete_messages(keys, context, expected_epoch, changes.deletes, {}) end
-- The conversation begins with the messages of this turn, if it has any.
if changes.starts_conversation then start_conversation(keys) end
local first = tonumber(redis.call('HGET', meta, 'next_sequence') or '0')
local sequences = append_messages(keys, context, expected_epoch, now, changes.messages)
if changes.later.facts ~= '' then
  note_unread(keys, context, now, changes.messages.rows, sequences, changes.later.facts)
end
local last = tonumber(redis.call('HGET', meta, 'next_sequence') or '0') - 1
if changes.ledger ~= '' and last >= first then
  local ends = { first_sequence = digits(first), last_sequence = digits(last) }
  redis.call('ZADD', ledger, last, with_fields(changes.ledger, ends))
end
if #changes.receipt > 0 then keep_receipt(unpack(changes.receipt)) end
if changes.registered ~= '' then redis.call('HSETNX', contexts, context, changes.registered) end
for name, value in pairs(changes.meta) do
  if value == '' then
    redis.call('HDEL', meta, name)
  else
    redis.call('HSET', meta, name, value)
  end
end
for _, change in ipairs(changes.incognito) do change_incognito(incognito, change, now) end
if changes.later.compresses then redis.call('ZADD', compress, 'NX', now, context) end
for _, part in ipairs(parts) do redis.call('RPUSH', outbox, part) end
if changes.begins_send then redis.call('SET', sending, 1) end
redis.call('DEL', journal)
if has_ended_words then redis.call('INCR', erasures) end
if redis.call('EXISTS', outbox) == 0 then redis.call('UNLINK', files) end
count_up(counts, now, counted)
return 'ok'
