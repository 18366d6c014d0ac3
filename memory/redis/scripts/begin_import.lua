-- Begin an import of another service's history, or find the one that has begun. Its messages get the sequences below all
-- others, so that none is ever in the window of the present conversation.
-- KEYS: imports meta contexts sessions epoch
-- ARGV: context_id expected_epoch:current import_id record count:number registered first_at
-- registered: the context's entry in the registry; first_at: time of the oldest message (Unix seconds)
-- Reply: {first, done or '', added, forgotten or ''}
if redis.call('HEXISTS', imports, import_id) == 0 then
  local first = string.format('%.0f', redis.call('HINCRBY', meta, 'first_sequence', -count))
  redis.call('HSET', imports, import_id, record, import_id .. ':first', first, import_id .. ':done', 0,
             import_id .. ':added', 0)
  redis.call('HSETNX', contexts, context_id, registered)
  redis.call('ZADD', sessions, first, first, 0, 0)
  local created_at = tonumber(redis.call('HGET', meta, 'created_at'))
  if not created_at or tonumber(first_at) < created_at then
    redis.call('HSET', meta, 'created_at', first_at)
  end
end
local found = redis.call('HMGET', imports, import_id .. ':first', import_id .. ':done', import_id .. ':added',
                         import_id .. ':forgotten')
return { found[1], found[2] or '', found[3], found[4] or '' }
