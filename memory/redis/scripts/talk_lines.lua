-- Heard lines of one context. A prelude.
-- USES: records

-- Remove the lines that copy the message of this score because somebody pinned it. They come after it. Return how many.
local function drop_pins(talk, score)
  local dropped = 0
  for _, line in ipairs(redis.call('ZRANGEBYSCORE', talk, '(' .. score, '+inf')) do
    if fields_of(line).pinned == tonumber(score) then
      dropped = dropped + redis.call('ZREM', talk, line)
    end
  end
  return dropped
end
