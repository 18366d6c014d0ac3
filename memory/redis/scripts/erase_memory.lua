-- Erase all that Redis keeps of one context's memory, and raise the fence that late writers meet. A prelude.
-- keys: the first eighteen as `erase_keys` (memory/history/redis_history.py) names them: messages, order, telegram, meta,
--       epoch, contexts, work, summaries, lineage, ledger, artifacts, prompts, compress, people, senders, sessions,
--       heard, erasures
-- The work that it queues erases the vectors of every older epoch.
-- Returns {new epoch, messages, summaries, ledger turns, artifacts, heard lines erased}.
local function erase_memory(keys, context_id, artifact_prefix)
  local messages, order, telegram, meta, epoch_key, contexts, work = unpack(keys, 1, 7)
  local summaries, lineage, ledger, artifacts, prompts, compress = unpack(keys, 8, 13)
  local people, senders, sessions, heard, erasures = unpack(keys, 14, 18)
  -- First what needs no memory: a full server refuses a script at its first write, and never later.
  redis.call('HDEL', contexts, context_id)
  local counts = {
    redis.call('INCR', epoch_key),
    math.max(redis.call('HLEN', messages), redis.call('ZCARD', order)),
    redis.call('ZCARD', lineage),
    redis.call('ZCARD', ledger),
    0,
    redis.call('ZCARD', heard),
  }
  for _, id in ipairs(redis.call('ZRANGE', artifacts, 0, -1)) do
    counts[5] = counts[5] + redis.call('UNLINK', artifact_prefix .. id)
  end
  redis.call('UNLINK', messages, order, telegram, meta, summaries, lineage, ledger, artifacts, prompts, people, senders,
             sessions, heard)
  redis.call('ZREM', compress, context_id)
  redis.call('INCR', erasures)
  redis.call('XADD', work, '*', 'op', 'erase', 'context', context_id, 'epoch', counts[1])
  return counts
end
