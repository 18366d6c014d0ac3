"""Memory of chats: history, recall, summaries. `from memory import Memory` is the library."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from memory.library import Chat, Memory

__all__ = ["Chat", "Memory"]


def __getattr__(name: str) -> Any:
    """Import the library when it is used: a module of ours that needs less stays cheap."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from memory import library

    return getattr(library, name)
