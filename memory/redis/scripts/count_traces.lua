-- Count what is stored of one context besides its messages.
-- USES: count_records
-- KEYS: CONTEXT_KEYS
-- ARGV: artifact_prefix erased_keys:json
-- Reply: RecordCounts (memory/keys.py) as JSON
local counts = count_records(keys, erased_keys, artifact_prefix)
counts.messages = nil
return cjson.encode(counts)
