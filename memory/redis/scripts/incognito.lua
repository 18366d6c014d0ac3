-- Incognito: spans of time in which nothing that is said is kept. A prelude.
-- USES: records

-- Seconds of silence that end it, and by which Telegram's clock may differ from ours.
local SILENCE_S, SKEW_S = 3600, 60

-- Return the beginning of a span, and its end or nil for an open one. Both are Unix seconds.
local function times_of(span)
  return tonumber(string.match(span, '^%d+')), tonumber(string.match(span, ' (%d+)$'))
end

-- spans: the key `incognito`: "BEGIN" of an open span, scored by the time at which silence ends it, or "BEGIN END", scored
-- by the time up to which its answers were sent.
-- Return true if nothing is kept of what is said at this time (Unix seconds). An open span lasts SILENCE_S from then on.
local function is_incognito(spans, at)
  for _, span in ipairs(redis.call('ZRANGEBYSCORE', spans, '(' .. at, '+inf')) do
    local first, last = times_of(span)
    if first <= at and (not last or at < last) then
      if not last then redis.call('ZADD', spans, 'GT', at + SILENCE_S, span) end
      return true
    end
  end
  return false
end

-- Return true if a message that somebody answers or pins was said in incognito: it is of such a time, and not kept.
local function was_incognito(spans, telegram, telegram_id, at)
  for _, span in ipairs(at > 0 and redis.call('ZRANGEBYSCORE', spans, at, '+inf') or {}) do
    if times_of(span) <= at then
      return redis.call('HEXISTS', telegram, string.format('%.0f', telegram_id)) == 0
    end
  end
  return false
end

-- Return what incognito does to an update (its JSON): true if nothing is kept of it, and true if it answers something that
-- was said in incognito. A press has no time of its own, and neither has an inline question. Due reminders were set before.
local function incognito_of(spans, telegram, payload, now)
  if redis.call('EXISTS', spans) == 0 then return false, false end
  local update = fields_of(payload)
  local message = update.message or {}
  local reply = message.reply_to or {}
  local said_at = (update.callback or update.inline_id) and tonumber(now) or message.edit_date or message.date or 0
  local is_unkept = not update.reminder and is_incognito(spans, said_at)
  return is_unkept, was_incognito(spans, telegram, reply.message_id or 0, reply.date or 0)
end

-- End the newest span at this time, if it is open; and it has answers up to now.
local function end_span(spans, at, now)
  local span, score = unpack(redis.call('ZREVRANGE', spans, 0, 0, 'WITHSCORES'))
  local first, last = times_of(span or '')
  if first and (not last or tonumber(score) < now) then
    redis.call('ZREM', spans, span)
    redis.call('ZADD', spans, now + SKEW_S, string.format('%.0f %.0f', first, last or math.max(first, at or score)))
  end
end

-- Begin or end incognito at this time.
local function change_incognito(spans, change, now)
  if change.is_on then
    redis.call('ZADD', spans, change.at + SILENCE_S, string.format('%.0f', change.at))
  else
    end_span(spans, change.at, tonumber(now))
  end
end

-- An answer in incognito is sent. If silence has ended the span before, it has this answer all the same.
local function note_answer(spans, now)
  local score = redis.call('ZREVRANGE', spans, 0, 0, 'WITHSCORES')[2]
  if score and tonumber(score) < tonumber(now) then end_span(spans, nil, tonumber(now)) end
end
