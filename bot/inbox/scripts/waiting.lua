-- Return a row for each context of one partition that has something to do, for operators. Changes nothing.
-- KEYS: active ready
-- ARGV: group prefixes:json
-- Returns {context, updates waiting, updates being delivered, parts undelivered, received_at of the oldest or '',
--          its consumer or ''}, …
local rows = {}
local entries = redis.call('HGETALL', active)
for i = 1, #entries, 2 do
  local context, entry = entries[i], entries[i + 1]
  local box, delivering = prefixes.box .. context, prefixes.delivering .. context
  local oldest = redis.call('ZRANGE', delivering, 0, 0)[1] or redis.call('ZRANGE', box, 0, 0)[1]
  local held = redis.pcall('XPENDING', ready, group, entry, entry, 1)
  rows[#rows + 1] = {
    context,
    redis.call('ZCARD', box),
    redis.call('ZCARD', delivering),
    redis.call('LLEN', prefixes.outbox .. context),
    oldest and redis.call('HGET', prefixes.update .. oldest, 'received_at') or '',
    -- Without a group (no worker was ever started) the reply is an error, and nobody holds anything.
    held.err == nil and held[1] ~= nil and held[1][2] or '',
  }
end
return rows
