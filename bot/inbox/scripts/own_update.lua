-- Local function for updates of our own.
-- USES: records

-- Put an update of our own into the box of a context, and wake it. `place` has the keys own_updates, box, stop, ready and
-- active. Ids are negative, and differ between partitions. In a box they come first, oldest first.
local function place_own_update(place, context, payload, gate, now, rules)
  local number = redis.call('INCR', place.own_updates)
  local id = digits(-((number - 1) * rules.partitions + rules.partition + 1))
  -- Stops up to now came before this update.
  local follows = redis.call('GET', place.stop) or '0'
  redis.call('HSET', rules.update_prefix .. id, 'context', context, 'received_at', now, 'gate', gate,
             'state', 'pending', 'payload', with_fields(payload, { update_id = id, follows = follows }))
  redis.call('ZADD', place.box, digits(number - 1e15), id)
  wake(place.ready, place.active, context)
end
