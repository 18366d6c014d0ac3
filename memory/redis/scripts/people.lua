-- The people of one context: how many messages each sender has, and the names of up to a limit of them. A prelude.

-- Count an appended message, and store the name that its sender shows now. Beyond `people_limit` names a new name is
-- not stored; the messages are still counted. keys: people, senders.
local function count_sender(keys, sender_id, name, people_limit)
  redis.call('HINCRBY', keys.senders, sender_id, 1)
  if redis.call('HEXISTS', keys.people, sender_id) == 1 or redis.call('HLEN', keys.people) < people_limit then
    redis.call('HSET', keys.people, sender_id, name)
  end
end

-- Subtract a deleted message (its fields); a sender goes with their last message. Return the sender's id or nil.
local function uncount_sender(keys, message)
  local sender_id = message.sender and message.sender.id
  if sender_id and redis.call('HINCRBY', keys.senders, sender_id, -1) <= 0 then
    redis.call('HDEL', keys.senders, sender_id)
    redis.call('HDEL', keys.people, sender_id)
  end
  return sender_id
end
