-- Records in JSON (memory/codec.py). A prelude. A script reads any field of a record, and writes only those on its second
-- line, which are strings: Lua would write texts and numbers in another way.

-- Return the fields of a record; none of one that is damaged or missing.
local function fields_of(record)
  local fields = {}
  for line in string.gmatch(record or '', '[^\n]+') do
    local is_read, found = pcall(cjson.decode, line)
    for name, value in pairs(is_read and type(found) == 'table' and found or {}) do
      fields[name] = value ~= cjson.null and value or nil
    end
  end
  return fields
end

-- Iterate over a list of words.
local function words(text)
  return string.gmatch(text or '', '%S+')
end

-- Return the record with these fields on its second line.
local function with_fields(record, fields)
  local first = string.match(record, '[^\n]+')
  return next(fields) and first .. '\n' .. cjson.encode(fields) or first
end

-- Add the values of another list to a list.
local function add_all(list, values)
  for _, value in ipairs(values) do list[#list + 1] = value end
end

-- Return these fields of a hash, at most a few thousand; false for one that is missing.
local function fields_at(key, names)
  return #names > 0 and redis.call('HMGET', key, unpack(names)) or {}
end
