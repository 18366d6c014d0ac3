-- Leave tombstones of chats that a reset is about to forget.
-- USES: tombstones
-- KEYS: tombstones
-- ARGV: names:json
bury(tombstones, names, true)
