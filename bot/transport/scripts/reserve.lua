-- Reserve the place of one call to the Bot API: in the budget of its chat, and in the budget of all chats.
-- KEYS: rates_all rates_chat rates_hold
-- ARGV: ask:json
-- ask: {share, size, window, busiest, slots, longest, now}, with times in ms
--   share, size: calls of this importance, and calls at all, in the chat's window
--   busiest: slots of all chats that may be taken in the last and the next second for this importance
--   slots: slots in a second; longest: maximum wait, -1 for any; now: nil for the server's clock
-- Returns the ms to wait for the place, or -1 if there is none; then nothing is reserved.
-- Times of one chat only grow, so "n in any window" means: not before the n-th newest plus the window. A call that
-- waits for its own chat must not delay other chats. So each call takes one slot of a time line: with one call per slot,
-- no second has more than its slots and one.
local now = ask.now
if not now then
  local time = redis.call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end

local times = redis.call('LRANGE', rates_chat, 0, ask.size - 1)
local at = math.max(now, tonumber(redis.call('GET', rates_hold) or '0'), tonumber(times[1] or '0'))
if times[ask.share] then
  at = math.max(at, tonumber(times[ask.share]) + ask.window)
end
if ask.longest >= 0 and at > now + ask.longest then
  return -1
end

local width = 1000 / ask.slots
local first = math.floor(now / width)
redis.call('ZREMRANGEBYSCORE', rates_all, '-inf', first - ask.slots - 1)
if ask.longest >= 0 and redis.call('ZCOUNT', rates_all, first - ask.slots, first + ask.slots) >= ask.busiest then
  return -1
end

local function first_free(slot)
  local taken
  repeat
    taken = redis.call('ZRANGEBYSCORE', rates_all, slot, '+inf', 'LIMIT', 0, 100)
    for _, each in ipairs(taken) do
      if tonumber(each) ~= slot then
        return slot
      end
      slot = slot + 1
    end
  until #taken == 0
  return slot
end

local slot = first_free(math.floor(at / width))
at = math.max(at, math.ceil(slot * width))
if ask.longest >= 0 and at > now + ask.longest then
  return -1
end

redis.call('ZADD', rates_all, slot, slot)
local last = tonumber(redis.call('ZRANGE', rates_all, -1, -1)[1])
redis.call('PEXPIRE', rates_all, math.ceil(math.max(last * width - now, 0)) + 2000)
redis.call('LPUSH', rates_chat, string.format('%.0f', at))
redis.call('LTRIM', rates_chat, 0, ask.size - 1)
redis.call('PEXPIRE', rates_chat, math.ceil(at - now) + ask.window)
return at - now
