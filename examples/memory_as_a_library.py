"""Memory without the bot: `python examples/memory_as_a_library.py`. It keeps its files under ./data."""

import asyncio

from memory import Memory


async def main() -> None:
    async with Memory.open() as memory:  # or Memory.open("redis://…", qdrant_url="http://…")
        chat = memory.chat("anna")
        await chat.add_user("The code of the bike lock is 4711.")
        await chat.add_assistant("Noted. Ride safely!")
        for hit in await chat.search("What was the lock's code?", k=3):
            print(f"found: {hit.message.text}")
        print("recent:", [message.text for message in await chat.recent(2)])
        receipt = await chat.reset()
        print(f"erased {receipt.messages_erased} messages, nothing left: {receipt.is_proven}")


if __name__ == "__main__":
    asyncio.run(main())
