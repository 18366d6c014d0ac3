-- A chat that must wait: until then no call for it has a place. A shorter wait than the one that holds changes nothing.
-- KEYS hold (STRING, until when)   ARGV 1 the ms to wait, 0 to ask only, 2 now in ms, or '' for the server's clock
-- Returns the ms that are left to wait
local hold, wait, now = KEYS[1], tonumber(ARGV[1]), tonumber(ARGV[2])
if not now then
  local time = redis.call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end
local left = math.max(0, tonumber(redis.call('GET', hold) or '0') - now)
if wait <= left then
  return left
end
redis.call('SET', hold, string.format('%.0f', now + wait), 'PX', math.ceil(wait))
return wait
