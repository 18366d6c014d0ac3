-- Stage a part of a context's file next to the memory; it expires if the import never ends.
-- KEYS: staged
-- ARGV: ttl_s commands:json
-- staged: the beginning of all keys of this import, in one slot; commands: {{name, key, arguments}, ...}
for _, command in ipairs(commands) do
  local key = staged .. command.key
  redis.call(command.name, key, unpack(command.arguments))
  redis.call('EXPIRE', key, ttl_s)
end
return #commands
