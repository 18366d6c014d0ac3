-- A turn begins anew, as what it answers has changed: its finished steps are forgotten. What it has shown in the chat
-- stays noted, so that the new one goes on with it.
-- KEYS ready, journal   ARGV 1 group, 2 consumer, 3 entry, 4 delivery
-- Returns ok | fenced
local ready, journal = unpack(KEYS)
local group, consumer, entry, delivery = unpack(ARGV)
if not is_held(ready, group, consumer, entry, delivery) then
  return 'fenced'
end
local preview = redis.call('HGET', journal, 'preview')
redis.call('DEL', journal)
if preview then
  redis.call('HSET', journal, 'preview', preview)
end
return 'ok'
