-- What waits in one partition, for operators: a row for each context with something to do. Changes nothing.
-- KEYS active, ready   ARGV 1 group, 2…5 prefixes of the keys of boxes, outboxes, delivering and updates
-- Returns {context, updates waiting, updates being delivered, parts undelivered, received_at of the oldest or '',
--          its consumer or ''}, …
local active, ready = unpack(KEYS)
local group, box, outbox, delivering, update = unpack(ARGV)
local rows = {}
local entries = redis.call('HGETALL', active)
for i = 1, #entries, 2 do
  local context, entry = entries[i], entries[i + 1]
  local oldest = redis.call('ZRANGE', delivering .. context, 0, 0)[1] or redis.call('ZRANGE', box .. context, 0, 0)[1]
  local held = redis.pcall('XPENDING', ready, group, entry, entry, 1)
  rows[#rows + 1] = {
    context,
    redis.call('ZCARD', box .. context),
    redis.call('ZCARD', delivering .. context),
    redis.call('LLEN', outbox .. context),
    oldest and redis.call('HGET', update .. oldest, 'received_at') or '',
    -- Without a group (no worker was ever started) the reply is an error, and nobody holds anything.
    held.err == nil and held[1] ~= nil and held[1][2] or '',
  }
end
return rows
