-- Erase everything that Redis stores of one context's memory, and raise the epoch that fences late writers. A prelude.

-- keys: those of erase_context.lua
-- Queue the erasure of the vectors of all older epochs.
-- Return {new epoch, messages, summaries, ledger turns, artifacts, lines of talk erased}.
local function erase_memory(keys, context_id, artifact_prefix)
  -- First the writes that need no memory: a full server refuses a script at its first write, and never later.
  redis.call('HDEL', keys.contexts, context_id)
  local counts = {
    redis.call('INCR', keys.epoch),
    math.max(redis.call('HLEN', keys.messages), redis.call('ZCARD', keys.order)),
    redis.call('ZCARD', keys.lineage),
    redis.call('ZCARD', keys.ledger),
    0,
    redis.call('ZCARD', keys.talk),
  }
  for _, id in ipairs(redis.call('ZRANGE', keys.artifacts, 0, -1)) do
    counts[5] = counts[5] + redis.call('UNLINK', artifact_prefix .. id)
  end
  redis.call('UNLINK', keys.messages, keys.order, keys.telegram, keys.meta, keys.summaries, keys.lineage, keys.ledger,
             keys.artifacts, keys.prompts, keys.people, keys.senders, keys.sessions, keys.talk)
  redis.call('ZREM', keys.compress, context_id)
  redis.call('INCR', keys.erasures)
  redis.call('XADD', keys.work, '*', 'op', 'erase', 'context', context_id, 'epoch', counts[1])
  return counts
end
