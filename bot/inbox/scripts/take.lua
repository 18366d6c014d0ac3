-- Read the work of a claimed context: its pending updates, the journal of an interrupted turn, undelivered parts.
-- An update that was begun too often becomes a dead letter here, and the others go on.
-- USES: fence named zones standing incognito
-- KEYS: ready box journal outbox sending stop dead epoch local_zones erasures facts standing incognito telegram update
-- ARGV: fence:held limits:json now
-- limits: at most so many updates, attempts, and standing wishes of a sender.
-- Returns fenced, or named: updates {id, payload, …}, journal {field, value, …}, parts {part, …}, sends_begun, stop (its
-- id), buried {dead id, payload, …}, epoch, zones {sender id of an update, time zone, …}, standing {fact, …}, the newest
-- standing wishes of these senders, unkept {id of an update of which nothing is kept, …}, answers {id of one that answers
-- something of which nothing is kept, …}
local attempt, prefix = attempt_of(fence), update .. ':'
local buried, from = {}, 0
local parts = redis.call('LRANGE', outbox, 0, -1)
if #parts == 0 then
  local first, is_resumed = first_update(journal, box)
  while first and is_dead_letter(prefix .. first, limits.attempts, attempt) do
    local record, reason = prefix .. first, 'interrupted too often'
    local payload = redis.call('HGET', record, 'payload')
    local is_unkept, is_answer = incognito_of(incognito, telegram, payload, now)
    if is_unkept or is_answer then
      finish_update(record, 'dead', reason, now)  -- nobody can retry it
      redis.call('INCR', erasures)
    else
      redis.call('HSET', record, 'state', 'dead', 'reason', reason, 'finished_at', now)
      redis.call('ZADD', dead, now, first)
    end
    redis.call('ZREM', box, first)
    if is_resumed then
      forget_steps(journal)
      redis.call('INCR', erasures)
    end
    add_all(buried, { first, payload })
    first, is_resumed = first_update(journal, box)
  end
  if is_resumed then
    -- Reminders that came since stand before the updates of the interrupted turn, and wait for its end.
    local is_own = string.sub(first, 1, 1) == '-'
    from = is_own and redis.call('ZRANK', box, first) or redis.call('ZCOUNT', box, '-inf', '(0')
  end
  -- After a burial the caller only apologises: the next update is not begun yet.
  if first and #buried == 0 and redis.call('HGET', prefix .. first, 'attempt') ~= attempt then
    redis.call('HSET', prefix .. first, 'attempt', attempt, counted(attempt), 1, 'begun_at', now, 'begun_by', fence.consumer)
    redis.call('HINCRBY', prefix .. first, 'attempts', 1)
  end
end

local updates, payloads, unkept, answers = {}, {}, {}, {}
for _, id in ipairs(redis.call('ZRANGE', box, from, from + limits.updates - 1)) do
  local payload = redis.call('HGET', prefix .. id, 'payload') or ''
  payloads[#payloads + 1] = payload
  add_all(updates, { id, payload })
  local is_unkept, is_answer = incognito_of(incognito, telegram, payload, now)
  unkept[#unkept + 1] = is_unkept and id or nil
  answers[#answers + 1] = is_answer and id or nil
end
return named({
  updates = updates, parts = parts, buried = buried, unkept = unkept, answers = answers,
  journal = redis.call('HGETALL', journal),
  sends_begun = redis.call('GET', sending),
  stop = redis.call('GET', stop),
  epoch = redis.call('GET', epoch),
  zones = zones_of(local_zones, {}, payloads),
  standing = standing_of(keys, payloads, limits.standing),
})
