-- A script whose stub in the tests names its arguments in another order.
-- KEYS: meta
-- ARGV: first second
return 0
