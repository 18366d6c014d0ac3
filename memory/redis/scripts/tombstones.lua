-- Tombstones of what was erased (memory/tombstones.py). A prelude.

-- Leave tombstones with these names, not with empty ones. One that exists keeps its time, unless it `moves`: a later reset counts anew.
local function bury(tombstones, names, moves)
  local time = redis.call('TIME')
  local now = time[1] .. '.' .. string.format('%06d', time[2])
  for _, name in ipairs(names) do
    if name ~= '' then redis.call('ZADD', tombstones, moves and 'GT' or 'NX', now, name) end
  end
end
