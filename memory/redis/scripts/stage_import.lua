-- Stage a part of a context's file next to the memory; it expires if the import never ends.
-- KEYS: staged
-- ARGV: ttl_s commands:json
-- staged: the beginning of all keys of this import, in one slot; commands: {{name, key, argument, ...}, ...}
for _, command in ipairs(commands) do
  local key = staged .. command[2]
  redis.call(command[1], key, unpack(command, 3))
  redis.call('EXPIRE', key, ttl_s)
end
return #commands
