-- Counters for operators: numbers and names of models, nothing of a chat. So no reset touches them.

-- COUNTER_STEP_S and COUNTER_TTL_S (memory/keys.py).
local STEP_S, KEPT_S = 900, 31 * 24 * 3600
-- Bound of a bucket's names. All histograms have 336.
local NAMES_AT_MOST = 400
-- Each level of a histogram is longer than the one before by GROWTH. bot/observe/series.py has the same numbers.
local SHORTEST_S, GROWTH, LAST_LEVEL = 0.001, 1.2, 83

-- Add to the counters of this time; `counts` is the prefix of their keys, `amounts` is name, number, …
local function count_up(counts, now, amounts)
  local key = string.format('%s:%.0f', counts, math.floor(now / STEP_S) * STEP_S)
  local is_new = false
  for i = 1, #amounts, 2 do
    local name, number = amounts[i], amounts[i + 1]
    if redis.call('HINCRBY', key, name, number) == tonumber(number) then
      is_new = true
      if redis.call('HLEN', key) > NAMES_AT_MOST then redis.call('HDEL', key, name) end
    end
  end
  if is_new then redis.call('EXPIRE', key, KEPT_S) end
end

-- Return the name of the counter of a duration in the histogram of a stage.
local function level_of(stage, seconds)
  local level = math.floor(math.log(math.max(seconds, SHORTEST_S) / SHORTEST_S) / math.log(GROWTH))
  return stage .. ':' .. math.min(level, LAST_LEVEL)
end
