-- Read what a turn must know of one context: its newest messages that no summary covers, the summary, the ledger of
-- those messages, the people. The cost is that of what is read, however long the history is.
-- USES: zones
-- KEYS: messages order meta epoch summaries lineage ledger people talk local_zones artifacts facts unread
-- ARGV: limit talk_limit:number
-- Reply: {epoch, count, conversation count, conversation start, next sequence, created_at or '',
--         {id, sequence, ...} newest first, {json or nil, ...} of the same, summary or '', how many messages it covers,
--         {ledger turn, ...} oldest first, active agent or '', revision, summary_failed_at or '',
--         {sender id, name, ...}, {line of talk, ...} the newest, oldest first, how many lines there are,
--         awaited corrections or '', chosen model or '', chosen kind of answers or '',
--         {sender id, zone, ...} of these people and talkers, who was asked for a zone or '',
--         the time after which talk is shown to models or '', {'artifacts', 'facts' or a part of these}}
local fields = redis.call('HMGET', meta, 'conversation_start', 'next_sequence', 'created_at', 'active_agent',
                         'revision', 'summary_failed_at', 'corrections', 'model', 'voice', 'zone_asked',
                         'talk_after')
local start = fields[1] or '0'

local lowest, covered, summary = start, 0, ''
local current = redis.call('ZREVRANGE', lineage, 0, 0, 'WITHSCORES')
if current[1] then
  summary = redis.call('HGET', summaries, current[1]) or ''
end
if summary ~= '' then
  covered = redis.call('ZCOUNT', order, start, current[2])
  lowest = '(' .. current[2]
end

local slice = redis.call('ZREVRANGEBYSCORE', order, '+inf', lowest, 'WITHSCORES', 'LIMIT', 0, limit)
local ids, lines, turns = {}, {}, {}
for at = 1, #slice, 2 do
  ids[#ids + 1] = slice[at]
end
for from = 1, #ids, 1000 do  -- `unpack` takes a few thousand values
  for _, line in ipairs(redis.call('HMGET', messages, unpack(ids, from, math.min(from + 999, #ids)))) do
    lines[#lines + 1] = line
  end
end
if #slice > 0 then
  turns = redis.call('ZRANGEBYSCORE', ledger, slice[#slice], '+inf')
end

local holds = {}
if redis.call('EXISTS', artifacts) == 1 then
  holds[#holds + 1] = 'artifacts'
end
if redis.call('EXISTS', facts, unread) > 0 then
  holds[#holds + 1] = 'facts'
end

local known, said = redis.call('HGETALL', people), redis.call('ZRANGE', talk, -talk_limit, -1)
return {
  redis.call('GET', epoch) or '0',
  math.max(redis.call('HLEN', messages), redis.call('ZCARD', order)),
  redis.call('ZCOUNT', order, start, '+inf'),
  start,
  fields[2] or '0',
  fields[3] or '',
  slice,
  lines,
  summary,
  covered,
  turns,
  fields[4] or '',
  fields[5] or '0',
  fields[6] or '',
  known,
  said,
  redis.call('ZCARD', talk),
  fields[7] or '',
  fields[8] or '',
  fields[9] or '',
  zones_of(local_zones, known, said),
  fields[10] or '',
  fields[11] or '',
  holds,
}
