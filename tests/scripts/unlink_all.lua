-- Try the prelude by itself. KEYS: telegram
unlink_all_telegram(KEYS[1])
