-- The one commit of a turn: still ours? same epoch? then append its messages, put its parts into the outbox,
-- take its updates out of the box and forget its journal. All of it, or nothing.
-- KEYS ready, box, journal, outbox, sending, delivering, epoch, messages, order, telegram, meta, work,
--      contexts
-- ARGV 1 group, 2 consumer, 3 entry, 4 delivery, 5 context id, 6 epoch, 7 now, 8 prefix of update keys,
--      9 terminal state, 10 reason, 11 seconds to keep a finished record, 12 starts a conversation (1 | 0),
--      13 the context's entry in the registry if it is new, or '',
--      14 number of parts p, 15 number of updates u, then u ids, the messages as `read_messages` reads them, p parts
-- Returns ok | already (this commit went through before) | fenced | forgotten
-- Without updates the parts are an apology, and the first of them tells whether it is there already.
local ready, box, journal, outbox, sending, delivering = unpack(KEYS, 1, 6)
local epoch_key, messages_key, order_key, telegram_key, meta_key, work_key = unpack(KEYS, 7, 12)
local group, consumer, entry, delivery, context, epoch, now, prefix = unpack(ARGV, 1, 8)
local state, reason, ttl, starts_conversation, registered = unpack(ARGV, 9, 13)
local part_count, update_count = tonumber(ARGV[14]), tonumber(ARGV[15])

if not is_held(ready, group, consumer, entry, delivery) then
  return 'fenced'
end
if (redis.call('GET', epoch_key) or '0') ~= epoch then
  return 'forgotten'
end
if update_count > 0 and not redis.call('ZSCORE', box, ARGV[16]) then
  local became = redis.call('HGET', prefix .. ARGV[16], 'state') or 'forgotten'
  return became == 'forgotten' and became or 'already'
end
if update_count == 0 and redis.call('LINDEX', outbox, 0) == ARGV[#ARGV - part_count + 1] then
  return 'already'
end

local at = 16
for i = 1, update_count do
  local id = ARGV[at + i - 1]
  redis.call('ZREM', box, id)
  if part_count > 0 then
    redis.call('HSET', prefix .. id, 'state', 'delivering', 'ends_as', state, 'reason', reason)
    redis.call('HDEL', prefix .. id, 'payload')
    redis.call('ZADD', delivering, id, id)
  else
    finish_update(prefix .. id, state, reason, now, ttl)
  end
end
at = at + update_count

local messages
messages, at = read_messages(ARGV, at)
append_messages(messages_key, order_key, telegram_key, meta_key, work_key, context, epoch, now, messages)
if registered ~= '' then
  redis.call('HSETNX', KEYS[13], context, registered)
end
if starts_conversation == '1' then
  start_conversation(meta_key)
end
for i = at, #ARGV do
  redis.call('RPUSH', outbox, ARGV[i])
end
if part_count > 0 then
  -- The caller sends the first part at once: it counts as begun.
  redis.call('SET', sending, 1)
end
redis.call('DEL', journal)
return 'ok'
