-- Take over entries of workers whose heartbeat has stopped, and entries whose holder gave no sign of life for a lease.
-- USES: fence
-- KEYS: ready workers
-- ARGV: who:json now limits:json prefixes:json silent:json
-- who: group, consumer, and worker: name and version, with which the worker is listed as alive, or ''
-- silent: consumer → its last heartbeat. One that has beaten since keeps its entries.
-- Returns {{entry, context, delivery, deaths}, …}: `deaths` is 0 if an answer is delivered or a dead letter buried first.

-- Return the number of attempts at the context's next update that ended with a death. From `isolated_from` on the next
-- attempt is marked as `alone`. `let_others_in` deletes the mark before anything else begins in the same worker.
local function deaths(context, attempt)
  if redis.call('EXISTS', prefixes.outbox .. context) == 1 then return 0 end
  local first = first_update(prefixes.journal .. context, prefixes.box .. context)
  local record = prefixes.update .. (first or '')
  if not first or is_dead_letter(record, limits.attempts, attempt) then return 0 end
  local begun = tonumber(redis.call('HGET', record, 'attempts') or '0')
  if begun >= limits.isolated_from then redis.call('HSET', record, 'alone', attempt) end
  return begun
end

if who.worker ~= '' then
  -- First the write that needs no memory: a full server refuses a script at its first write, and never later.
  redis.call('ZREMRANGEBYSCORE', workers, '-inf', now - limits.idle_ms / 1000)
  redis.call('ZADD', workers, now, who.worker)
  redis.call('PEXPIRE', workers, limits.idle_ms)
end
local rows, from = {}, '0-0'

local function add(entry)
  local id, context = entry[1], entry[2][2]
  local delivery = tostring(redis.call('XPENDING', ready, who.group, id, id, 1)[1][4])
  rows[#rows + 1] = { id, context, delivery, deaths(context, id .. ':' .. delivery) }
end

for dead, beat in pairs(silent) do
  if #rows < limits.count and redis.call('GET', prefixes.beat .. dead) == beat then
    for _, held in ipairs(redis.call('XPENDING', ready, who.group, '-', '+', limits.count - #rows, dead)) do
      for _, entry in ipairs(redis.call('XCLAIM', ready, who.group, who.consumer, 0, held[1])) do
        add(entry)
      end
    end
  end
end
if #rows >= limits.count then return rows end
repeat
  -- One call looks at ten times COUNT entries only: the idle ones may stand behind those that are worked on.
  local reply = redis.call('XAUTOCLAIM', ready, who.group, who.consumer, limits.idle_ms, from, 'COUNT', limits.count - #rows)
  from = reply[1]
  for _, entry in ipairs(reply[2]) do add(entry) end
until from == '0-0' or #rows >= limits.count
return rows
