-- Take finished entries off the work stream: acknowledged and deleted together, so that none is left behind.
-- KEYS: work, walk
-- ARGV: group, how many spaces the work was done in, their names, then for each entry: its id, its build or ''
-- Reply: 1, or 0 when messages belong into a space that is not among these: then the work has to be done again.
--        With no space the entries are finished whatever is being built: they erased.
local work, walk = KEYS[1], KEYS[2]
local spaces = tonumber(ARGV[2])
local wanted = redis.call('HMGET', walk, 'space', 'build')
local is_done = spaces == 0 or not wanted[1]
for at = 3, 2 + spaces do
  is_done = is_done or ARGV[at] == wanted[1]
end
if not is_done then
  return 0
end
for at = 3 + spaces, #ARGV, 2 do
  redis.call('XACK', work, ARGV[1], ARGV[at])
  if redis.call('XDEL', work, ARGV[at]) == 1 and ARGV[at + 1] ~= '' and ARGV[at + 1] == wanted[2] then
    redis.call('HINCRBY', walk, 'done', 1)
  end
end
return 1
