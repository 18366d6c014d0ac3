-- Incognito: spans of time in which nothing that is said is kept. A prelude.
-- USES: records

-- Seconds of silence that end it, and seconds after its end in which its last answer may still arrive.
local SILENCE_S, ARRIVES_S = 3600, 60
-- Behind the beginning of a span that a command has ended.
local ENDED = ' ended'

-- spans: the key `incognito`. Return the first span that ends from `least` on, if it has begun at this time; else nil.
local function span_of(spans, at, least)
  local span = redis.call('ZRANGEBYSCORE', spans, least, '+inf', 'LIMIT', 0, 1)[1]
  return span and tonumber(string.match(span, '%d+')) <= at and span or nil
end

-- Return true if nothing is kept of what is said at this time (Unix seconds). An open span lasts SILENCE_S from then on.
local function is_incognito(spans, at)
  local span = span_of(spans, at, '(' .. at)
  if span and not string.find(span, ENDED) then
    redis.call('ZADD', spans, 'GT', at + SILENCE_S, span)
  end
  return span ~= nil
end

-- Return true if a message that somebody answers or pins was said in incognito: it is of such a time, and not kept.
local function was_incognito(spans, telegram, telegram_id, at)
  return at > 0 and span_of(spans, at, at - ARRIVES_S) ~= nil
    and redis.call('HEXISTS', telegram, string.format('%.0f', telegram_id)) == 0
end

-- Return what incognito does to an update (its JSON): true if nothing is kept of it, and true if it answers something that
-- was said in incognito. A press has no time of its own, and neither has an inline question. Due reminders were set before.
local function incognito_of(spans, telegram, payload, now)
  if redis.call('EXISTS', spans) == 0 then
    return false, false
  end
  local update = fields_of(payload)
  local message = update.message or {}
  local reply = message.reply_to or {}
  local said_at = (update.callback or update.inline_id) and tonumber(now) or message.edit_date or message.date or 0
  local is_unkept = not update.reminder and is_incognito(spans, said_at)
  return is_unkept, was_incognito(spans, telegram, reply.message_id or 0, reply.date or 0)
end

-- Begin or end incognito at this time.
local function change_incognito(spans, change)
  local at = string.format('%.0f', change.at)
  if change.is_on then
    redis.call('ZADD', spans, at + SILENCE_S, at)
    return
  end
  local span = redis.call('ZREVRANGE', spans, 0, 0)[1]
  if span and not string.find(span, ENDED) then
    redis.call('ZREM', spans, span)
    redis.call('ZADD', spans, math.max(at, tonumber(span)), span .. ENDED)
  end
end
