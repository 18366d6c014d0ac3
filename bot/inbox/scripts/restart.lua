-- A turn begins anew, as what it answers has changed: its finished steps are forgotten. What it has shown in the chat
-- stays noted, so that the new one goes on with it. Whoever begins it then, this attempt does not count.
-- KEYS ready, journal, box   ARGV 1 fence (JSON), 2 prefix of update keys
-- Returns ok | fenced
local ready, journal, box = unpack(KEYS)
local fence, prefix = cjson.decode(ARGV[1]), ARGV[2]
if not is_held(ready, fence) then
  return 'fenced'
end
local first = first_update(journal, box)
local preview = redis.call('HGET', journal, 'preview')
redis.call('DEL', journal)
if preview then
  redis.call('HSET', journal, 'preview', preview)
end
if first then
  take_back(prefix .. first, attempt_of(fence))
end
return 'ok'
