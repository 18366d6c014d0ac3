-- Reserve the place of one call to the Bot API: in the budget of its chat, and in the budget of all chats.
-- KEYS: rates_seats rates_bucket rates_hold
-- ARGV: ask:json
-- ask: {bucket, share, burst, careful, interval, late, busiest, slots, seats, longest, now}, with times in ms
--   bucket: 1 for messages, 2 for what is only shown for a moment
--   share: calls that may go at once; burst, careful: these calls of an answer, before and after a 429
--   interval: the time in which the bucket gets one call back; late: added to a wait, because requests differ in speed
--   busiest: seats of all chats that may be taken in the last and the next second for this importance
--   slots, seats: slots in a second, and calls in each; longest: maximum wait, -1 for any
--   now: nil for the server's clock
-- Returns the ms to wait for the place, or -1 if there is none; then nothing is reserved.
-- A bucket is the time at which it is full again: each call moves it one interval on. A call that may use `share` calls
-- of the bucket goes `share - 1` intervals before that. So no window has more than its intervals and `burst` calls.
-- The first bucket counts messages, the second one all calls: what is shown for a moment never delays a message.
-- A call that waits for its own chat must not delay other chats. So each call takes one seat of a time line.
local now = ask.now
if not now then
  local time = redis.call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end

local stored = redis.call('MGET', rates_bucket, rates_hold)
local messages, calls = string.match(stored[1] or '0 0', '(%d+) (%d+)')
local full = {tonumber(messages), tonumber(calls)}
local held, share = tonumber(stored[2] or '0'), ask.share
if held > 0 then
  share = math.max(1, share - ask.burst + ask.careful)
  for each = 1, 2 do full[each] = math.max(full[each], held + (ask.careful - 1) * ask.interval) end
end

local at = math.max(now, held)
local room = full[ask.bucket] - (share - 1) * ask.interval
if room > at then at = room + ask.late end
if ask.longest >= 0 and at > now + ask.longest then return -1 end

local width = 1000 / ask.slots
local first = math.floor(now / width)
redis.call('ZREMRANGEBYSCORE', rates_seats, '-inf', (first - ask.slots) * ask.seats - 1)
local next_second = (first + ask.slots + 1) * ask.seats
if ask.longest >= 0 and redis.call('ZCOUNT', rates_seats, '-inf', next_second - 1) >= ask.busiest then
  return -1
end

local last = tonumber(redis.call('ZRANGE', rates_seats, -1, -1)[1] or '0')

local function first_free(seat)
  local free, beyond = seat, math.max(seat, last + 1)
  while free < beyond do
    local middle = math.floor((free + beyond) / 2)
    if redis.call('ZCOUNT', rates_seats, seat, middle) == middle - seat + 1 then
      free = middle + 1
    else
      beyond = middle
    end
  end
  return free
end

local seat = first_free(math.floor(at / width) * ask.seats)
at = math.max(at, math.ceil(math.floor(seat / ask.seats) * width))
if ask.longest >= 0 and at > now + ask.longest then return -1 end

redis.call('ZADD', rates_seats, seat, string.format('%.0f', seat))
last = math.max(last, seat)
redis.call('PEXPIRE', rates_seats, math.ceil(math.max(last / ask.seats * width - now, 0)) + 2000)
for each = ask.bucket, 2 do full[each] = math.max(full[each], at) + ask.interval end
local both = string.format('%.0f %.0f', full[1], full[2])
redis.call('SET', rates_bucket, both, 'PX', math.ceil(math.max(full[1], full[2]) - now))
return at - now
