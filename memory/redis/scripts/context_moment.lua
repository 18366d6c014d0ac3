-- Return a digest of one context that differs after any change of what its file would contain.
-- KEYS: epoch meta lineage ledger telegram unread talk artifacts choices reminders people
local parts = {
  redis.call('GET', epoch) or '0',
  redis.call('ZCARD', ledger),
  redis.call('HLEN', telegram),
  redis.call('ZCARD', unread),
  redis.call('ZCARD', talk),
}
local lists = {
  redis.call('HGETALL', meta), redis.call('HGETALL', choices), redis.call('HGETALL', reminders),
  redis.call('HGETALL', people), redis.call('ZRANGE', lineage, 0, -1), redis.call('ZRANGE', artifacts, 0, -1),
  redis.call('ZREVRANGE', talk, 0, 0),
}
for _, list in ipairs(lists) do
  parts[#parts + 1] = cjson.encode(list)
end
return redis.sha1hex(table.concat(parts, '\n'))
