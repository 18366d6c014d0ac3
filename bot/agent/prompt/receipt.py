"""The receipt of a prompt: what is in it, why, how many tokens, and what was left out and why."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

PartName = Literal[
    "system",
    "tools",
    "summary",
    "recalled",
    "heard",
    "window",
    "ledger",
    "prompt",
    "record",
    "task",
    "digest",
    "steps",
]
"""The parts of a prompt. `heard`: talk that was not addressed to the bot; `record`: what other agents of this run called; `task`: what a delegated agent was told
to do; `digest`: compressed steps of this run.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceiptItem:
    """One thing that is in a prompt or was left out.

    `id` is a message's, a summary's, a tool's name, the first ledger entry's of a past turn, an entry's of this run,
    or the first call's of a step; "heard:" and a Telegram message id for a line of talk; "older" stands for all messages that the window's selector passed over. `tokens` is what it takes in the prompt, or would have taken (0: not counted);
    `why` is empty for what is in it whole.
    """

    id: str
    tokens: int
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceiptPart:
    """One part of a prompt: its tokens, why it is there, what is in it and what was left out."""

    part: PartName
    tokens: int
    why: str
    included: tuple[ReceiptItem, ...] = ()
    left_out: tuple[ReceiptItem, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptReceipt:
    """What one request held. `tokens` of the `room`, which is the model's `window` less the answer's room.

    It has ids and counts, and no text. `parts` are in the order of the prompt.
    """

    agent: str
    order: Literal["described", "cached"]
    window: int
    room: int
    tokens: int
    parts: tuple[ReceiptPart, ...]


def dump_receipt(receipt: PromptReceipt) -> str:
    """The receipt as one line of ASCII JSON."""
    fields = {
        "agent": receipt.agent,
        "order": receipt.order,
        "window": receipt.window,
        "room": receipt.room,
        "tokens": receipt.tokens,
        "parts": [
            [part.part, part.tokens, part.why, _dump_items(part.included), _dump_items(part.left_out)]
            for part in receipt.parts
        ],
    }
    return json.dumps(fields, separators=(",", ":"))


def parse_receipt(line: str) -> PromptReceipt:
    """The inverse of `dump_receipt`; raises ValueError, KeyError or TypeError on a line that is not one."""
    fields = cast("dict[str, Any]", json.loads(line))
    return PromptReceipt(
        agent=fields["agent"],
        order=fields["order"],
        window=fields["window"],
        room=fields["room"],
        tokens=fields["tokens"],
        parts=tuple(
            ReceiptPart(
                part=part,
                tokens=tokens,
                why=why,
                included=_parse_items(included),
                left_out=_parse_items(left_out),
            )
            for part, tokens, why, included, left_out in fields["parts"]
        ),
    )


def _dump_items(items: Sequence[ReceiptItem]) -> list[tuple[str, int, str]]:
    return [(item.id, item.tokens, item.why) for item in items]


def _parse_items(items: Sequence[tuple[str, int, str]]) -> tuple[ReceiptItem, ...]:
    return tuple(ReceiptItem(id=item_id, tokens=tokens, why=why) for item_id, tokens, why in items)
