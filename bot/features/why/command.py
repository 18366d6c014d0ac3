"""/why says what an answer was made of, and so does the button under it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

from bot.agent.model import Usage
from bot.agent.prompt.parts import LeftOutCause, PartName
from bot.features.parts import Built, Parts
from bot.transport.controls import WHY_BUTTON
from bot.transport.page_links import PageLinks
from bot.transport.rich_text import LINK, RichText, Span, from_spans
from bot.transport.words import Words
from bot.turn.answer_receipt import AnswerReceipt, CalledTool, load_receipts
from bot.turn.commands import CommandCall
from bot.turn.commit import Reply
from bot.turn.costs import MICROS
from bot.turn.store import TurnStore
from memory.characters import one_line, seam_before
from memory.facts.redis_facts import RedisFacts
from memory.history.fact import Fact
from memory.history.message import OWN_ORIGINS, Message, text_origin
from memory.history.redis_history import RedisHistory
from memory.redis.client import RedisClient

SHOWN = 5
"""Memories that are shown, so that the answer has at most twelve lines."""
FACTS_SHOWN = 3
"""Facts among them, at most."""
FIRST_WORDS = 60
"""Characters of a message that are shown, if the answer did not use an excerpt of it."""

_SUCCESSES = ("ok", "replayed")
_COUNTS: Mapping[PartName, str] = {
    "recalled": "count-memories",
    "window": "count-messages",
    "talk": "count-talk",
    "ledger": "count-tool-notes",
    "summary": "count-summaries",
}
"""Keys of the catalogue for things that were left out; others are counted together."""
_REASONS: Mapping[LeftOutCause, str] = {"no_room": "why-no-room", "not_selected": "why-too-old"}

Which = Literal["this", "last"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """A message as an answer used it, and its address at Telegram; "" without one."""

    message: Message
    is_excerpt: bool = False
    url: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class WhyCommand:
    """Shows the receipt of an answer. Raises the store's errors."""

    redis: RedisClient
    store: TurnStore
    history: RedisHistory
    facts: RedisFacts
    page_links: PageLinks

    async def run(self, call: CommandCall) -> Reply:
        """Tell about the answer that the command replies to, or about the last one of the conversation."""
        if call.update.answers_unkept or (call.update.is_incognito and call.message.reply_to is None):
            return Reply(text=call.words("incognito-why"))
        if call.message.reply_to is not None:
            return await self._tell_of_message(call, call.message.reply_to.message_id)
        answers = [each.id for each in call.snapshot.newest if each.role == "assistant"]
        if not answers:
            return Reply(text=call.words("why-none"))
        return await self._tell(call, answers[-1], which="last")

    async def press(self, call: CommandCall) -> Reply:
        """Tell about the answer under which the button is."""
        return await self._tell_of_message(call, call.message.message_id)

    async def _tell_of_message(self, call: CommandCall, telegram_id: int) -> Reply:
        message_id = await self.history.find_by_telegram(call.ref, telegram_id) or ""
        message = (await self.history.get(call.ref, [message_id])).get(message_id)
        if message is None or message.role != "assistant":
            return Reply(text=call.words("why-no-answer"))
        return await self._tell(call, message_id, which="this")

    async def _tell(self, call: CommandCall, answer_id: str, *, which: Which) -> Reply:
        receipt = (await load_receipts(self.redis, call.ref, [answer_id])).get(answer_id)
        if receipt is None:
            return Reply(text=call.words("why-no-receipt"))
        found = await self.history.get(call.ref, receipt.memories)
        used = [each for each in receipt.recalled if not each.left_out and each.message_id in found]
        memories = [
            Memory(
                message=each.tell(found[each.message_id], at=receipt.at),
                is_excerpt=each.excerpt is not None,
                url=await self._link(call, each.message_id) if number < SHOWN else "",
            )
            for number, each in enumerate(used)
        ]
        facts = await self.facts.get(call.ref, receipt.facts)
        told = [facts[each] for each in receipt.facts if each in facts]
        return Reply(
            rich=why_text(call.words, receipt, memories, told, which=which),
            buttons=self.page_links.open_place(call.place, call.words("memory-open")),
        )

    async def _link(self, call: CommandCall, message_id: str) -> str:
        """Return the address of the message; "" if Telegram has none."""
        shown_as = await self.store.shown_as(call.ref, message_id)
        return call.address_of(shown_as[0]) if shown_as else ""


def why_text(
    words: Words,
    receipt: AnswerReceipt,
    memories: Sequence[Memory],
    facts: Sequence[Fact] = (),
    *,
    which: Which,
) -> RichText:
    """Return the receipt in at most twelve lines.

    `memories` and `facts` are the messages and facts that it used and that still exist.
    Nothing that people wrote is rendered as markup.
    """
    lines = [words("why-title", which=which)]
    spans: list[Span] = []
    if memories or facts:
        lines.append(words("why-memories"))
    shown = SHOWN - len(facts[:FACTS_SHOWN])
    for memory in memories[:shown]:
        day = _day(words, memory.message.sent_at)
        line = words("why-memory", day=day, writer=_whose(words, memory.message), words=_words_of(memory))
        if memory.url:
            begin = len("\n".join([*lines, ""])) + line.index(day)
            spans.append(Span(begin, begin + len(day), LINK, memory.url))
        lines.append(line)
    for fact in facts[:FACTS_SHOWN]:
        day, subject = _day(words, fact.valid_from), _first(one_line(fact.subject))
        lines.append(words("why-fact", day=day, subject=subject, words=_first(one_line(fact.statement))))
    others = _others(words, receipt, memories, facts, shown=shown)
    lines += filter(None, (others, *_rest(words, receipt)))
    return from_spans("\n".join(lines), spans)


def _others(
    words: Words, receipt: AnswerReceipt, memories: Sequence[Memory], facts: Sequence[Fact], *, shown: int
) -> str:
    """Return the line about memories that are not shown; "" if there are none."""
    more = max(0, len(memories) - shown) + receipt.more_recalled + len(facts[FACTS_SHOWN:])
    gone = len(receipt.memories) - len(memories)
    gone_facts = len(receipt.facts) - len(facts)
    if not (memories or more or gone or receipt.facts):
        return words("why-nothing-recalled")
    sentences = [words("why-more", count=more)] if more else []
    sentences += [words("why-forgotten", count=gone)] if gone else []
    sentences += [words("why-facts-forgotten", count=gone_facts)] if gone_facts else []
    return " ".join(sentences)


def _rest(words: Words, receipt: AnswerReceipt) -> Iterator[str]:
    """Yield the lines about everything but memories, "" for those that have nothing to say."""
    separator = words("list-separator")
    things = [words("why-window", count=receipt.window_messages)] if receipt.window_messages else []
    things += [words("why-summary")] if receipt.summary_id else []
    things += [words("why-standing", count=len(receipt.standing))] if receipt.standing else []
    yield words("why-also", things=separator.join(things)) if things else ""
    tools = list(dict.fromkeys(_tool(words, each) for each in receipt.tools))
    tools += ["…"] if receipt.more_tools else []
    yield words("why-tools", tools=separator.join(tools)) if tools else ""
    yield _left_out(words, receipt)
    yield _spent(words, receipt)


def _day(words: Words, at: float) -> str:
    return words("why-day", date=datetime.fromtimestamp(at, UTC).date())


def _tool(words: Words, called: CalledTool) -> str:
    return called.name if called.outcome in _SUCCESSES else words("why-tool-failed", tool=called.name)


def _left_out(words: Words, receipt: AnswerReceipt) -> str:
    sentences: list[str] = []
    for cause, key in _REASONS.items():
        counts: dict[str, int] = {}
        for each in receipt.left_out:
            if each.why == cause:
                name = _COUNTS.get(each.part, "count-other-things")
                counts[name] = counts.get(name, 0) + each.count
        if counts:
            things = words("list-separator").join(words(name, count=count) for name, count in counts.items())
            sentences.append(words(key, things=things))
    return " ".join(sentences)


def _spent(words: Words, receipt: AnswerReceipt) -> str:
    """Return the line about models, tokens and cost; "" for an answer without a model."""
    if not receipt.models:
        return ""
    usage = sum(receipt.models, Usage())
    read = words("usage-tokens", count=usage.prompt_tokens)
    written = words("usage-tokens", count=usage.completion_tokens)
    models = words("list-separator").join(each.model for each in receipt.models)
    sentences = [words("why-tokens", models=models, read=read, written=written)]
    if receipt.micros is not None:
        sentences.append(words("why-cost", money=receipt.micros / MICROS))
    return " ".join(sentences)


def _writer(words: Words, message: Message) -> str:
    if message.role == "assistant":
        return words("why-me")
    name = one_line(message.sender.name) if message.sender else ""
    return _first(name) or words("why-somebody")


def _whose(words: Words, message: Message) -> str:
    """Return the writer of the words that `_words_of` shows, and how they came if they are another's."""
    writer, origin = _writer(words, message), text_origin(message)
    if (message.role != "user" and origin != "imported") or origin == "spoken":
        return writer
    if message.note and not one_line(message.text):
        origin = "attached"
    if origin == "bot":
        return words("why-me")
    return writer if origin in OWN_ORIGINS else words("why-origin", writer=writer, origin=origin)


def _words_of(memory: Memory) -> str:
    """Return an excerpt in one line, the first words of a short message, or the note on its content."""
    text = one_line(memory.message.text) or memory.message.note
    return (text if memory.is_excerpt else _first(text)) or "…"


def _first(text: str) -> str:
    """Return the text, cut at a word if it is long, and never within an emoji or letter."""
    if len(text) <= FIRST_WORDS:
        return text
    blank = text.rfind(" ", FIRST_WORDS // 2, FIRST_WORDS)
    return text[: blank if blank > 0 else seam_before(text, FIRST_WORDS)].rstrip() + "…"


async def build(parts: Parts) -> Built:
    """Return the command, and the button under answers."""
    why = WhyCommand(
        redis=parts.stores.redis,
        store=parts.store,
        history=parts.stores.history,
        facts=parts.stores.facts,
        page_links=parts.page_links,
    )
    return Built(commands={"why": why.run}, buttons={WHY_BUTTON: why.press})
