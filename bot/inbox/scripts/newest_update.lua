-- Find the newest update of a context in one piece of the store's keys, for operators. Changes nothing.
-- KEYS: ready
-- ARGV: context prefix cursor count
-- Returns {cursor, update id or '', received_at of it}
local reply, newest, received = redis.call('SCAN', cursor, 'MATCH', prefix .. '*', 'COUNT', count), nil, nil
for _, key in ipairs(reply[2]) do
  local record = redis.call('HMGET', key, 'context', 'received_at')
  if record[1] == context then
    local id, at = string.sub(key, #prefix + 1), tonumber(record[2]) or 0
    if not newest or at > received or at == received and tonumber(id) > tonumber(newest) then
      newest, received = id, at
    end
  end
end
return { reply[1], newest or '', tostring(received or 0) }
