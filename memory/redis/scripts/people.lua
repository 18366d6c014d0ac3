-- Who wrote in one context: how many messages there are of each sender, and the names of as many as are kept. A prelude.
-- All keys as in memory/keys.py.

-- Count a message that was appended with this sequence, and keep the name that its sender shows now. Beyond
-- `people_limit` names a new one is not kept; its messages are counted all the same.
local function count_sender(people_key, senders_key, meta_key, sender_id, name, sequence, people_limit)
  redis.call('HSETNX', meta_key, 'counted_from', sequence)
  redis.call('HINCRBY', senders_key, sender_id, 1)
  if redis.call('HEXISTS', people_key, sender_id) == 1 or redis.call('HLEN', people_key) < people_limit then
    redis.call('HSET', people_key, sender_id, name)
  end
end

-- The sender's id in a message's JSON, as it is spelt there, or nil. It is not decoded: an id must not become a
-- double, and cjson refuses a lone surrogate. Texts and names cannot have the mark: their quotation marks are escaped.
local function sender_of(json)
  return string.match(json, '"sender":{"id":(-?%d+)')
end

-- Count a deleted message of this sequence no more; its sender goes with their last one. A message from before the
-- counting was not counted. Returns its sender's id or nil.
local function uncount_sender(people_key, senders_key, meta_key, json, sequence)
  local sender_id = sender_of(json)
  local counted_from = redis.call('HGET', meta_key, 'counted_from')
  if sender_id and counted_from and tonumber(sequence) >= tonumber(counted_from)
    and redis.call('HINCRBY', senders_key, sender_id, -1) <= 0 then
    redis.call('HDEL', senders_key, sender_id)
    redis.call('HDEL', people_key, sender_id)
  end
  return sender_id
end
