-- Append messages of an import, each at its own sequence. One that is present, under its id or its Telegram id, stays as
-- it is. At the end the messages are summarised, unless the conversation has begun anew or has a summary already, and read
-- for facts within the budget for older ones; those that are too old to be kept go.
-- USES: telegram_index
-- KEYS: messages order telegram meta work people senders sessions imports extract compress lineage epoch retain
-- ARGV: context_id expected_epoch:current import_id batch:json
-- batch: ImportBatch (memory/transfer/move_in.py); a row's json is stored as it is, never decoded
-- Reply: {done, added, forgotten} | {'gone'} (the import is being forgotten)
local done = tonumber(redis.call('HGET', imports, import_id .. ':done'))
if not done then return { 'gone' } end
local added = 0
for _, row in ipairs(batch.rows) do
  local is_known = row.telegram_id ~= '' and redis.call('HEXISTS', telegram, row.telegram_id) == 1
  if not is_known and not redis.call('ZSCORE', order, row.id) then
    redis.call('HSET', messages, row.id, row.json)
    redis.call('ZADD', order, row.sequence, row.id)
    if row.telegram_id ~= '' then link_telegram(telegram, row.id, row.telegram_id) end
    if row.sender_id ~= '' then  -- the name that a sender shows now is newer
      redis.call('HINCRBY', senders, row.sender_id, 1)
      if redis.call('HLEN', people) < batch.people_limit then
        redis.call('HSETNX', people, row.sender_id, row.sender_name)
      end
    end
    if row.is_indexed then
      redis.call('XADD', work, '*', 'op', 'new', 'context', context_id, 'epoch', expected_epoch, 'id', row.id)
    end
    added = added + 1
  end
  if row.begins_session then redis.call('ZADD', sessions, row.sequence, row.sequence) end
end
if batch.chats ~= '' then
  redis.call('HSET', imports, import_id .. ':chats:' .. batch.upto, batch.chats)
end
local total = redis.call('HINCRBY', imports, import_id .. ':added', added)
local left_out = redis.call('HINCRBY', imports, import_id .. ':forgotten', batch.upto > done and batch.forgotten or 0)
done = math.max(done, batch.upto)
redis.call('HSET', imports, import_id .. ':done', string.format('%.0f', done))
if batch.is_last and total > 0 then
  redis.call('ZADD', retain, 0, context_id)  -- some may be too old to be kept
  if redis.call('HEXISTS', meta, 'facts_from') == 1 then
    redis.call('ZADD', extract, 'NX', 0, context_id)
  end
  if (redis.call('HGET', meta, 'conversation_start') or '0') == '0' and redis.call('EXISTS', lineage) == 0 then
    redis.call('ZADD', compress, 'NX', 0, context_id)
  end
end
return { done, total, left_out }
