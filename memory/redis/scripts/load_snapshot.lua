-- Read what a turn must know of one context: its newest messages that no summary covers, the summary, the ledger of
-- those messages, the people. The cost is that of what is read, however long the history is.
-- USES: named zones
-- KEYS: messages order meta epoch summaries lineage ledger people talk local_zones artifacts facts unread choices incognito
-- ARGV: limit talk_limit:number
-- Reply, named: meta {field, value, ...}, epoch, count, conversation_count, order {id, sequence, ...} newest first, lines
--   {json or nil, ...} of the same, summary, covered (messages that it covers), ledger {turn, ...} oldest first,
--   people {sender id, name, ...}, talk {line, ...} the newest, oldest first, talk_count,
--   zones {sender id, zone, ...} of these people and talkers, holds {'artifacts', 'facts' or a part of these},
--   incognito_until (the end of an open one, in Unix seconds), retention (choice)
local reply = { meta = redis.call('HGETALL', meta), holds = {} }
local start = redis.call('HGET', meta, 'conversation_start') or '0'
local lowest = start
local current = redis.call('ZREVRANGE', lineage, 0, 0, 'WITHSCORES')
reply.summary = current[1] and redis.call('HGET', summaries, current[1])
if reply.summary then
  reply.covered = redis.call('ZCOUNT', order, start, current[2])
  if tonumber(current[2]) >= tonumber(start) then  -- a summary of imported messages only covers none of the window
    lowest = '(' .. current[2]
  end
end

local slice = redis.call('ZREVRANGEBYSCORE', order, '+inf', lowest, 'WITHSCORES', 'LIMIT', 0, limit)
local ids = {}
for at = 1, #slice, 2 do ids[#ids + 1] = slice[at] end
reply.order, reply.lines = slice, fields_at(messages, ids)
reply.ledger = #slice > 0 and redis.call('ZRANGEBYSCORE', ledger, slice[#slice], '+inf')

if redis.call('EXISTS', artifacts) == 1 then reply.holds[1] = 'artifacts' end
if redis.call('EXISTS', facts, unread) > 0 then reply.holds[#reply.holds + 1] = 'facts' end

reply.epoch = redis.call('GET', epoch)
local span, ends = unpack(redis.call('ZREVRANGE', incognito, 0, 0, 'WITHSCORES'))
reply.incognito_until = span and not string.find(span, ' ') and ends or nil
reply.count = math.max(redis.call('HLEN', messages), redis.call('ZCARD', order))
reply.conversation_count = redis.call('ZCOUNT', order, start, '+inf')
reply.people = redis.call('HGETALL', people)
reply.talk = redis.call('ZRANGE', talk, -talk_limit, -1)
reply.talk_count = redis.call('ZCARD', talk)
reply.retention = redis.call('HGET', choices, 'retention')
reply.zones = zones_of(local_zones, reply.people, reply.talk)
return named(reply)
