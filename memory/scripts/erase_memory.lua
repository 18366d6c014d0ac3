-- Erase all that Redis keeps of one context's memory, and raise the fence that late writers meet. A prelude.
-- All keys as in memory/keys.py. The work that it queues erases the vectors of every older epoch.
-- Returns {new epoch, messages erased}.
local function erase_memory(messages_key, order_key, telegram_key, meta_key, epoch_key, contexts_key, work_key,
                            context_id)
  local erased = math.max(redis.call('HLEN', messages_key), redis.call('ZCARD', order_key))
  local epoch = redis.call('INCR', epoch_key)
  redis.call('UNLINK', messages_key, order_key, telegram_key, meta_key)
  redis.call('HDEL', contexts_key, context_id)
  redis.call('XADD', work_key, '*', 'op', 'erase', 'context', context_id, 'epoch', epoch)
  return {epoch, erased}
end
