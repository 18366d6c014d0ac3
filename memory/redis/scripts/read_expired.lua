-- Read a page of one context's messages, and reply with those that are too old. Nothing is written.
-- USES: named records
-- KEYS: messages order cited epoch work
-- ARGV: after now:number age:number limit
-- after: exclusive sequence; age: seconds that a message may have. The earlier one of our clock and the store's counts,
-- because a clock that is ahead would erase what is not old.
-- Reply, named: epoch, before (messages of earlier times are too old), last (sequence of the page's last message), ids
--   {id, ...} and cited {JSON or '', ...} of those that are too old (only of those on which a fact rests), oldest (time of
--   the oldest other one), index_work (entries that wait)
local before = math.min(now, tonumber(redis.call('TIME')[1])) - age
local slice = redis.call('ZRANGEBYSCORE', order, '(' .. after, '+inf', 'WITHSCORES', 'LIMIT', 0, limit)
local all, ids, facts_of, oldest = {}, {}, {}, nil
for at = 1, #slice, 2 do all[#all + 1] = slice[at] end
for at, record in ipairs(fields_at(messages, all)) do
  local sent_at = tonumber(fields_of(record or '').sent_at) or 0
  if sent_at < before then
    ids[#ids + 1] = all[at]
    facts_of[#ids] = redis.call('HEXISTS', cited, all[at]) == 1 and record or ''
  else
    oldest = math.min(oldest or sent_at, sent_at)
  end
end
return named({
  epoch = redis.call('GET', epoch), before = string.format('%.0f', before), last = slice[#slice], ids = ids,
  cited = facts_of, oldest = oldest and string.format('%.3f', oldest), index_work = redis.call('XLEN', work),
})
