-- Counts an asked turn in the minute of its user and chat, unless a limit is reached; one that is counted stays so.
-- KEYS: minute and day of the user, minute and day of the chat, told. The first four are in the order of ARGV's limits.
-- ARGV: now, window (s), until the day's end (s), limits of messages, tokens and micros of the user, then of the chat
--       (0: none), update ids.
-- Gives "", or the limit reached ("user_messages" …), after how many seconds it is free, and 1 if the chat is to be told.
local now, window, day_ends = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local newest = ARGV[#ARGV]

local function refuse(limit, wait)
  local told = redis.call('GET', KEYS[5])
  if not told then
    redis.call('SET', KEYS[5], newest, 'EX', window)
  end
  return { limit, math.ceil(wait), (not told or told == newest) and 1 or 0 }
end

local function used(day, field)
  return tonumber(redis.call('HGET', day, field) or 0)
end

if redis.call('ZSCORE', KEYS[1], newest) or redis.call('ZSCORE', KEYS[3], newest) then
  return { '' }
end
for owner = 0, 1 do
  local kind = owner == 0 and 'user' or 'chat'
  local minute, day = KEYS[1 + 2 * owner], KEYS[2 + 2 * owner]
  local messages, tokens, micros = tonumber(ARGV[4 + 3 * owner]), tonumber(ARGV[5 + 3 * owner]), tonumber(ARGV[6 + 3 * owner])
  redis.call('ZREMRANGEBYSCORE', minute, '-inf', now - window)
  if messages > 0 and redis.call('ZCARD', minute) >= messages then
    -- Free again when fewer than the limit are left: a turn of many messages may have gone over it.
    local freeing = redis.call('ZRANGE', minute, -messages, -messages, 'WITHSCORES')
    return refuse(kind .. '_messages', math.max(1, tonumber(freeing[2]) + window - now))
  end
  if tokens > 0 and used(day, 'prompt') + used(day, 'completion') >= tokens then
    return refuse(kind .. '_tokens', day_ends)
  end
  if micros > 0 and used(day, 'micros') >= micros then
    return refuse(kind .. '_money', day_ends)
  end
end
for owner = 0, 1 do
  if tonumber(ARGV[4 + 3 * owner]) > 0 then
    local minute = KEYS[1 + 2 * owner]
    for at = 10, #ARGV do
      redis.call('ZADD', minute, now, ARGV[at])
    end
    redis.call('EXPIRE', minute, window)
  end
end
return { '' }
