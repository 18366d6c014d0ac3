-- Erase what is left of a context without messages, unless it has something to do: its person may be writing again.
-- USES: erase_memory
-- KEYS: CONTEXT_KEYS contexts work compress extract due erasures tombstones active
-- ARGV: context_id prefixes:json erased_keys:json
-- Reply: an Erasure (memory/history/store.py) as JSON, or '' if the context stays
if redis.call('EXISTS', order) == 1 or redis.call('HEXISTS', active, context_id) == 1
    or redis.call('HEXISTS', contexts, context_id) + redis.call('EXISTS', meta, people, facts, talk, reminders) == 0 then
  return ''
end
return cjson.encode(erase_memory(keys, erased_keys, context_id, prefixes, {}))
