-- A turn begins anew, as what it answers has changed: its finished steps are forgotten. What it has shown in the chat
-- stays noted, so that the new one goes on with it. Whoever begins it then, this attempt does not count.
-- KEYS ready, journal, box   ARGV 1 group, 2 consumer, 3 entry, 4 delivery, 5 prefix of update keys
-- Returns ok | fenced
local ready, journal, box = unpack(KEYS)
local group, consumer, entry, delivery, prefix = unpack(ARGV)
if not is_held(ready, group, consumer, entry, delivery) then
  return 'fenced'
end
local first = first_update(journal, box)
local preview = redis.call('HGET', journal, 'preview')
redis.call('DEL', journal)
if preview then
  redis.call('HSET', journal, 'preview', preview)
end
if first then
  take_back(prefix .. first, entry .. ':' .. delivery)
end
return 'ok'
