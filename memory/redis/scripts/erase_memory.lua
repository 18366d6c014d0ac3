-- Erase everything that Redis stores of one context's memory, and raise the epoch that fences late writers. A prelude.
-- USES: count_records tombstones

-- keys, erased_keys, prefixes, buried: those of erase_context.lua
-- Queue the erasure of the vectors of all older epochs.
-- Return the fields of an Erasure: the new epoch, and how many records of each kind were erased.
local function erase_memory(keys, erased_keys, context_id, prefixes, buried)
  local counts = count_records(keys, erased_keys, prefixes)
  -- First the writes that need no memory: a full server refuses a script at its first write, and never later.
  redis.call('HDEL', keys.contexts, context_id)
  counts.epoch = redis.call('INCR', keys.epoch)
  for name, prefix in pairs(prefixes) do
    for _, id in ipairs(redis.call('ZRANGE', keys[name], 0, -1)) do
      redis.call('UNLINK', prefix .. id)
    end
  end
  for _, id in ipairs(redis.call('HKEYS', keys.reminders)) do
    redis.call('ZREM', keys.due, context_id .. ' ' .. id)
  end
  for name in pairs(erased_keys) do redis.call('UNLINK', keys[name]) end
  redis.call('ZREM', keys.compress, context_id)
  redis.call('ZREM', keys.extract, context_id)
  bury(keys.tombstones, buried, true)
  redis.call('INCR', keys.erasures)
  redis.call('XADD', keys.work, '*', 'op', 'erase', 'context', context_id, 'epoch', counts.epoch)
  return counts
end
