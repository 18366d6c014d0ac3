-- Accept one update: dedupe, bound, add to its context's box, wake the context. Atomic.
-- KEYS update, box, active, ready, stop, control, heard, contexts, unreachable, telegram
-- ARGV 1 update id, 2 context id, 3 now, 4 box limit, 5 payload, 6 mode (turn | stop | ignored), 7 reason,
--      8 seconds to keep a finished record, 9 seconds to keep a stop,
--      10 the line that is heard (opaque) or '', 11 its score, 12 lines to keep, 13 seconds to keep them,
--      14 the context's entry in the registry or '',
--      15 the nudge for a running turn (edit | message | forward | press) or '', 16 its Telegram message, 17 its sender,
--      18 the chat that it came from, which can be reached again, or 0, 19 what the door decided, for operators
-- Returns accepted | duplicate | full | control | ignored
local update, box, active, ready, stop, control, heard, contexts, unreachable, telegram = unpack(KEYS)
local id, context, now, limit, payload, mode, reason, ttl, stop_ttl = unpack(ARGV, 1, 9)
local line, score, lines_kept, heard_ttl, registered = unpack(ARGV, 10, 14)
local nudge, telegram_message, sender, chat, gate = unpack(ARGV, 15, 19)

-- The control lane: what the turn that runs should know before its line comes to it. Every worker reads it.
local function tell_running_turn(kind)
  redis.call('XADD', control, 'MAXLEN', '~', 1000, '*', 'context', context, 'update', id, 'kind', kind,
             'message', telegram_message, 'sender', sender)
end

-- Put a line into what is heard; one of the same score is replaced. Whatever is kept of a chat is to be found.
local function keep_heard()
  redis.call('ZREMRANGEBYSCORE', heard, score, score)
  redis.call('ZADD', heard, score, line)
  redis.call('ZREMRANGEBYRANK', heard, 0, -1 - tonumber(lines_kept))
  for _, old in ipairs(redis.call('ZRANGE', heard, 0, -1)) do  -- what is too old goes with the next line
    if heard_at(old) >= now - heard_ttl then
      break
    end
    redis.call('ZREM', heard, old)
  end
  redis.call('EXPIRE', heard, heard_ttl)
  if registered ~= '' then
    redis.call('HSETNX', contexts, context, registered)
  end
end

if redis.call('EXISTS', update) == 1 then
  -- A write, so that the caller's wait for the disk covers what the first try wrote and perhaps did not see confirmed.
  redis.call('HINCRBY', update, 'redelivered', 1)
  return 'duplicate'
end
-- An edit replaces the line. It needs no turn then, unless others may quote what it said before: those that are kept, and
-- those that a turn is at work on.
local is_edit = reason == 'heard_edit'
local before = line ~= '' and redis.call('ZRANGEBYSCORE', heard, score, score)[1]

local function hear()
  if line ~= '' and is_edit then
    drop_pins(heard, score)
  end
  if line ~= '' and (before or not is_edit) then
    keep_heard()
  end
end

local function may_be_quoted()
  return redis.call('HEXISTS', telegram, 'q:' .. telegram_message) == 1 or redis.call('HEXISTS', active, context) == 1
end

if mode == 'ignored' or (is_edit and before and (before == line or not may_be_quoted())) then
  redis.call('HSET', update, 'context', context, 'received_at', now, 'gate', gate)
  hear()
  finish_update(update, 'ignored', reason, now, ttl)
  return 'ignored'
end
if mode == 'stop' and redis.call('HEXISTS', active, context) == 1 then
  -- It must not wait behind the turn that it stops.
  redis.call('SET', stop, id, 'EX', stop_ttl)
  tell_running_turn('stop')
  redis.call('HSET', update, 'context', context, 'received_at', now, 'gate', gate)
  finish_update(update, 'answered', 'stop', now, ttl)
  return 'control'
end
if redis.call('ZCARD', box) >= tonumber(limit) then
  return 'full'
end
redis.call('HSET', update, 'state', 'pending', 'context', context, 'received_at', now, 'payload', payload, 'gate', gate)
redis.call('ZADD', box, id, id)
hear()
redis.call('HDEL', unreachable, chat)
if nudge ~= '' and redis.call('HEXISTS', active, context) == 1 then
  tell_running_turn(nudge)
end
wake(ready, active, context)
return 'accepted'
