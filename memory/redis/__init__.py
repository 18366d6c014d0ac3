"""Redis: the client, durable writes and Lua scripts."""
