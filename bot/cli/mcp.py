"""`mcp`: the memory of one chat as an MCP server over stdio."""

from typing import TYPE_CHECKING

from bot.cli.chats import find_chat
from bot.cli.session import Chat, ChatName, finish, load_quietly, open_stores

if TYPE_CHECKING:
    from bot.settings import Settings


def mcp(chat: Chat) -> None:
    """Serve the memory of a chat, read-only, to an MCP client that starts this command."""
    settings = load_quietly()
    finish(settings, _serve(settings, chat))


async def _serve(settings: "Settings", name: ChatName) -> None:
    from bot.mcp.memory_server import ChatMemory, serve_memory
    from memory.tokens import tokenizer_for

    async with open_stores(settings) as stores:
        chat, _ = await find_chat(settings, stores, name)
        memory = ChatMemory(
            ref=chat.ref,
            is_group=chat.chat_id < 0,
            history=stores.history,
            recall=stores.recall,
            facts_store=stores.facts,
            tokenizer=tokenizer_for(settings.openai_model),
        )
        await serve_memory(memory, name=f"mnemogram-{chat.name}")
