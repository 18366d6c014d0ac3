-- Take finished entries off the work stream: acknowledged and deleted together, so that none is left behind.
-- KEYS: work walk
-- ARGV: group spaces:json entries...
-- `spaces` are the names of those that the work was done in; none for erasures, which finish in any case.
-- `entries` has for each entry its id, and its build or ''.
-- Reply: 1, or 0 if messages belong into a space that is not among these: then the work has to be done again.

local destination = redis.call('HMGET', walk, 'space', 'build')
local is_done = #spaces == 0 or not destination[1]
for _, name in ipairs(spaces) do is_done = is_done or name == destination[1] end
if not is_done then return 0 end
for at = 1, #entries, 2 do
  redis.call('XACK', work, group, entries[at])
  if redis.call('XDEL', work, entries[at]) == 1 and entries[at + 1] ~= '' and entries[at + 1] == destination[2] then
    redis.call('HINCRBY', walk, 'done', 1)
  end
end
return 1
