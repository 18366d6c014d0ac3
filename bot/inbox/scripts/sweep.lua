-- Take over entries whose holder gave no sign of life for a lease.
-- USES: fence
-- KEYS: ready workers
-- ARGV: group consumer worker now limits:json prefixes:json
-- worker: name and version, with which the worker is listed as alive, or ''
-- Returns {{entry, context, delivery, deaths}, …}: `deaths` is 0 if an answer is delivered or a dead letter buried first.

-- Return the number of attempts at the context's next update that ended with a death. From `isolated_from` on the next
-- attempt is marked as `alone`. `let_others_in` deletes the mark before anything else begins in the same worker.
local function deaths(context, attempt)
  if redis.call('EXISTS', prefixes.outbox .. context) == 1 then
    return 0
  end
  local first = first_update(prefixes.journal .. context, prefixes.box .. context)
  if not first or is_dead_letter(prefixes.update .. first, limits.attempts, attempt) then
    return 0
  end
  local begun = tonumber(redis.call('HGET', prefixes.update .. first, 'attempts') or '0')
  if begun >= limits.isolated_from then
    redis.call('HSET', prefixes.update .. first, 'alone', attempt)
  end
  return begun
end

if worker ~= '' then
  -- First the write that needs no memory: a full server refuses a script at its first write, and never later.
  redis.call('ZREMRANGEBYSCORE', workers, '-inf', now - limits.idle_ms / 1000)
  redis.call('ZADD', workers, now, worker)
  redis.call('PEXPIRE', workers, limits.idle_ms)
end
local rows, from = {}, '0-0'
repeat
  -- One call looks at ten times COUNT entries only: the idle ones may stand behind those that are worked on.
  local reply = redis.call('XAUTOCLAIM', ready, group, consumer, limits.idle_ms, from, 'COUNT', limits.count - #rows)
  from = reply[1]
  for _, entry in ipairs(reply[2]) do
    local id, context = entry[1], entry[2][2]
    local delivery = tostring(redis.call('XPENDING', ready, group, id, id, 1)[1][4])
    rows[#rows + 1] = { id, context, delivery, deaths(context, id .. ':' .. delivery) }
  end
until from == '0-0' or #rows >= limits.count
return rows
