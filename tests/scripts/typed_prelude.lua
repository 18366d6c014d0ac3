-- A prelude for the tests of memory/redis/lua.py.
local function twice(number)
  return 2 * number
end
