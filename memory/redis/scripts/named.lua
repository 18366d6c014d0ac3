-- Replies of named values. A prelude.

-- Return {name, value, ...} of a table; `named` in memory/redis/lua.py reads it. Values that are nil or false are left out.
local function named(values)
  local reply = {}
  for name, value in pairs(values) do
    if value then reply[#reply + 1], reply[#reply + 2] = name, value end
  end
  return reply
end
