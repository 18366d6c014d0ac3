-- The place of one call to the Bot API within the budgets: one of its chat, one of all. Taken here and now, or nothing is.
-- KEYS all (ZSET of taken slots), chat (LIST of the times of its newest calls, newest first), hold (STRING, until when)
-- ARGV 1 calls that the chat's window may hold for a call of this importance, 2 … at all, 3 that window in ms,
--      4 calls that a second may hold of all chats for this importance, 5 slots in a second,
--      6 the longest wait in ms, or -1 for any, 7 now in ms, or '' for the server's clock
-- Returns the ms to wait for the place, or -1: no room
-- Times of one chat only grow, so `n in any window` is: not before the n-th newest plus the window. Over all chats a call
-- that waits for its own chat must not keep the others waiting, so each takes one slot of a time line: with one call to a
-- slot no second has more than its slots and one.
local all, chat, hold = unpack(KEYS)
local share, size, window, busiest, slots, longest = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]),
  tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
local now = tonumber(ARGV[7])
if not now then
  local time = redis.call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end

local times = redis.call('LRANGE', chat, 0, size - 1)
local at = math.max(now, tonumber(redis.call('GET', hold) or '0'), tonumber(times[1] or '0'))
if times[share] then
  at = math.max(at, tonumber(times[share]) + window)
end
if longest >= 0 and at > now + longest then
  return -1
end

local width = 1000 / slots
local first = math.floor(now / width)
redis.call('ZREMRANGEBYSCORE', all, '-inf', first - slots - 1)
if longest >= 0 and redis.call('ZCOUNT', all, first - slots, first + slots) >= busiest then
  return -1
end

local function first_free(slot)
  local taken
  repeat
    taken = redis.call('ZRANGEBYSCORE', all, slot, '+inf', 'LIMIT', 0, 100)
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
if longest >= 0 and at > now + longest then
  return -1
end

redis.call('ZADD', all, slot, slot)
local last = tonumber(redis.call('ZRANGE', all, -1, -1)[1])
redis.call('PEXPIRE', all, math.ceil(math.max(last * width - now, 0)) + 2000)
redis.call('LPUSH', chat, string.format('%.0f', at))
redis.call('LTRIM', chat, 0, size - 1)
redis.call('PEXPIRE', chat, math.ceil(at - now) + window)
return at - now
