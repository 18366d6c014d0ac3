-- Return the last heartbeats of the other workers that hold entries. Changes nothing.
-- KEYS: ready
-- ARGV: group consumer beats
-- Returns {consumer, heartbeat}, …; a worker of a version without heartbeats is left out, and its lease counts.
local held = redis.pcall('XPENDING', ready, group)
local rows = {}
-- Without a group the reply is an error, and without entries it has no consumers.
for _, each in ipairs(held.err == nil and held[4] or {}) do
  local beat = each[1] ~= consumer and redis.call('GET', beats .. each[1])
  if beat then rows[#rows + 1] = { each[1], beat } end
end
return rows
