-- Hold a chat: no call for it gets a place before the hold ends. A shorter hold than the current one changes nothing.
-- USES: counters
-- KEYS: rates_hold rates_counts
-- ARGV: wait:number careful:number now:number
-- `wait` is in ms, 0 to read only; `now` in ms is nil for the server's clock. Returns the ms that are left.
-- The key stays `careful` ms longer than the hold: reserve.lua allows smaller bursts as long as it is there.
if not now then
  local time = redis.call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end
if wait > 0 then count_up(rates_counts, now / 1000, { 'refusals', 1 }) end
local left = math.max(0, tonumber(redis.call('GET', rates_hold) or '0') - now)
if wait <= left then return left end
redis.call('SET', rates_hold, string.format('%.0f', now + wait), 'PX', math.ceil(wait) + careful)
return wait
