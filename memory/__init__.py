"""Memory of chats: history, recall, summaries. `from memory import Memory` is the library."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from memory.history.message import Message, Sender
    from memory.library import Chat, Memory
    from memory.prompt_memory import PromptMemory
    from memory.sync import SyncChat, SyncMemory

__all__ = ["Chat", "Memory", "Message", "PromptMemory", "Sender", "SyncChat", "SyncMemory"]

_PLACES = {
    **dict.fromkeys(["Message", "Sender"], "memory.history.message"),
    **dict.fromkeys(["Chat", "Memory"], "memory.library"),
    **dict.fromkeys(["PromptMemory"], "memory.prompt_memory"),
    **dict.fromkeys(["SyncChat", "SyncMemory"], "memory.sync"),
}


def __getattr__(name: str) -> Any:
    """Import the library when it is used: a module of ours that needs less stays cheap."""
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_PLACES[name]), name)
