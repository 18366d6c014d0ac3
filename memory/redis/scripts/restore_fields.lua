-- Put fields of a backup into a hash. A field that is there already stays.
-- KEYS: record
-- ARGV: rest...
for at = 1, #rest, 2 do
  redis.call('HSETNX', record, rest[at], rest[at + 1])
end
return #rest / 2
