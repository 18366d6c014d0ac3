-- Accept one update: dedupe, bound, add to its context's box, wake the context. Atomic.
-- USES: fence talk_lines counters incognito
-- KEYS: update box active ready stop control talk contexts unreachable telegram counts outbox erasures incognito
-- ARGV: arrival:json now limits:json
-- Returns accepted | duplicate | full | control | ignored
local context = arrival.ref.context_id
local id, score, chat = digits(arrival.update_id), digits(arrival.talk_score), digits(arrival.chat_id)
local signal = arrival.signal

-- Send a signal to the running turn of the context. Every worker reads this stream.
local function send_signal(kind, message, sender)
  redis.call('XADD', control, 'MAXLEN', '~', 1000, '*', 'context', context, 'kind', kind, 'update_id', id,
             'telegram_message_id', digits(message), 'sender_id', digits(sender))
end

-- Keep a line of group talk in place of the line with the same score, and register its context so that it can be found.
-- It takes the lines away that are too old. It looks at one more than these, however many there are.
local function keep_line()
  redis.call('ZREMRANGEBYSCORE', talk, score, score)
  redis.call('ZADD', talk, score, arrival.talk)
  redis.call('ZREMRANGEBYRANK', talk, 0, -1 - limits.talk)
  local oldest = redis.call('ZRANGE', talk, 0, 0)[1]
  while oldest and (fields_of(oldest).sent_at or 0) < now - limits.talk_ttl do
    redis.call('ZREM', talk, oldest)
    oldest = redis.call('ZRANGE', talk, 0, 0)[1]
  end
  redis.call('EXPIRE', talk, limits.talk_ttl)
  if arrival.registered ~= '' then redis.call('HSETNX', contexts, context, arrival.registered) end
end

if redis.call('EXISTS', update) == 1 then
  -- A write, so that the caller's wait for the disk covers the writes of the first try, which may be unconfirmed.
  redis.call('HINCRBY', update, 'redelivered', 1)
  if redis.call('HGET', update, 'state') == 'pending' then
    -- Nothing changes, unless the first try stopped in its middle: a Redis before 7.0 whose user lost a permission.
    redis.call('ZADD', box, id, id)
    wake(ready, active, context)
  end
  return 'duplicate'
end
-- An edit replaces the line. It needs a turn only if others may quote the old text: a message that is kept, or the turn
-- that runs.
local is_edit = arrival.reason == 'talk_edit'
local before = arrival.talk ~= '' and redis.call('ZRANGEBYSCORE', talk, score, score)[1]
-- Of the talk too nothing is kept in incognito, nor a copy of what was said then.
local is_unkept = is_incognito(incognito, arrival.said_at)
  or was_incognito(incognito, telegram, arrival.pinned_id, arrival.pinned_at)

local function hear()
  if is_unkept then return end
  if arrival.talk ~= '' and is_edit and drop_pins(talk, score) + (before and before ~= arrival.talk and 1 or 0) > 0 then
    redis.call('INCR', erasures)
  end
  if arrival.talk ~= '' and (before or not is_edit) then keep_line() end
end

local function may_be_quoted()
  local message = signal and signal.telegram_message_id or 0
  return redis.call('HEXISTS', telegram, 'q:' .. digits(message)) == 1 or redis.call('HEXISTS', active, context) == 1
end

local function store(...)
  redis.call('HSET', update, 'context', context, 'received_at', now, 'gate', arrival.gate, ...)
end

if arrival.mode == 'ignored' or (is_edit and before and (before == arrival.talk or not may_be_quoted())) then
  store()
  hear()
  finish_update(update, 'ignored', arrival.reason, now)
  return 'ignored'
end
if arrival.mode == 'stop' and redis.call('HEXISTS', active, context) == 1 then
  -- It must not wait behind the turn that it stops. The delivery of an answer looks for it in the box (count_sends.lua).
  redis.call('SET', stop, id, 'EX', limits.stop_ttl)
  if redis.call('EXISTS', outbox) == 0 then
    send_signal('stop', 0, 0)
    count_up(counts, now, { 'messages', 1 })
    store()
    finish_update(update, 'answered', 'stop', now)
    return 'control'
  end
end
if redis.call('ZCARD', box) >= limits.box then return 'full' end
store('state', 'pending', 'payload', arrival.payload)
redis.call('ZADD', box, id, id)
hear()
redis.call('HDEL', unreachable, chat)
if signal and redis.call('HEXISTS', active, context) == 1 then
  send_signal(signal.kind, signal.telegram_message_id, signal.sender_id)
end
wake(ready, active, context)
count_up(counts, now, { 'messages', 1 })
return 'accepted'
