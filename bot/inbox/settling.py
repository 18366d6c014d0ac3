"""What becomes of a context when a piece of its work is done."""

from typing import Protocol

from bot.inbox.quarantine import Quarantine
from bot.inbox.records import Claim


class Settling(Protocol):
    """Lets a context rest, keeps it for its next turn, or sends it to the end of the line."""

    async def settle(self, claim: Claim, *, rotate: bool = False, handed_back: int | None = None) -> bool: ...


class GatedSettling:
    """`settling`, but for who has more to do while somebody is alone: that would begin beside it, so it goes into line."""

    def __init__(self, settling: Settling, quarantine: Quarantine) -> None:
        self._settling = settling
        self._quarantine = quarantine

    async def settle(self, claim: Claim, *, rotate: bool = False, handed_back: int | None = None) -> bool:
        """Whether the context has more to do and is still ours. Raises what `settling` does."""
        rotate = rotate or not self._quarantine.is_open()
        has_more = await self._settling.settle(claim, rotate=rotate, handed_back=handed_back)
        if has_more and not self._quarantine.begin_next():  # somebody has come meanwhile
            return await self._settling.settle(claim, rotate=True)
        return has_more
