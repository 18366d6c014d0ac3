-- Erase one context's memory.
-- USES: erase_memory
-- KEYS: CONTEXT_KEYS contexts work compress extract due erasures tombstones
-- ARGV: context_id prefixes:json erased_keys:json buried:json
-- buried: names of tombstones, '' for none
-- Reply: an Erasure (memory/history/store.py) as JSON
return cjson.encode(erase_memory(keys, erased_keys, context_id, prefixes, buried))
