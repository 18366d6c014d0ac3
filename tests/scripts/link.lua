-- Try the prelude by itself. KEYS: telegram; ARGV: message id, Telegram id
link_telegram(KEYS[1], ARGV[1], ARGV[2])
