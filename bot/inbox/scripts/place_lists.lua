-- If a context has no unread messages any more, put an update into its box for each list that said how many there were.
-- USES: fence own_update
-- KEYS: unread fact_lists own_updates box stop active ready
-- ARGV: context_id now rules:json
-- fact_lists: a line is {token, payload} (bot/features/facts/command.py), or the token after the update was placed.
-- rules: FiringRules (bot/inbox/reminders.py)
-- Returns the number of updates. A list stays noted as it was if the box is full.
if redis.call('ZCARD', unread) > 0 then return 0 end
local placed, lists = 0, redis.call('HGETALL', fact_lists)
for number = 1, #lists, 2 do
  local person, line = lists[number], lists[number + 1]
  if string.sub(line, 1, 1) == '{' and redis.call('ZCARD', box) < rules.box then
    local list = cjson.decode(line)
    place_own_update(keys, context_id, list.payload, 'facts command list', now, rules)
    redis.call('HSET', fact_lists, person, list.token)
    placed = placed + 1
  end
end
return placed
