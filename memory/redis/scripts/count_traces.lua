-- Count what is stored of one context besides its messages.
-- USES: count_records
-- KEYS: CONTEXT_KEYS
-- ARGV: prefixes:json erased_keys:json
-- Reply: RecordCounts (memory/keys.py) as JSON
local counts = count_records(keys, erased_keys, prefixes)
counts.messages = nil
return cjson.encode(counts)
