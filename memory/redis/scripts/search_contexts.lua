-- Read one piece of the registry, and reply only with the entries that contain a text. Parsing all of them in the caller
-- would take a second with 100,000 contexts.
-- KEYS: contexts
-- ARGV: cursor count text
-- Reply: {cursor, {id, entry, ...}}
local reply, found = redis.call('HSCAN', contexts, cursor, 'COUNT', count), {}
local entries = reply[2]
for i = 1, #entries, 2 do
  if string.find(entries[i + 1], text, 1, true) then
    found[#found + 1], found[#found + 2] = entries[i], entries[i + 1]
  end
end
return { reply[1], found }
