"""/facts lists what is known about a person, with buttons to delete and correct it, and turns facts on and off."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial

from bot.features.parts import Built, Parts
from bot.features.retention.command import limit_line
from bot.inbox.reminders import FiringRules
from bot.transport.controls import FACTS_BUTTON
from bot.transport.gating import Admission
from bot.transport.ingest import WaitingUpdate
from bot.transport.page_links import PageLinks
from bot.transport.rich_text import RichText
from bot.transport.telegram_api import Button
from bot.transport.texts import fact_deleted_text, forgotten_text
from bot.transport.updates import Command, without_content
from bot.transport.words import Words
from bot.turn.batch import correction_in
from bot.turn.commands import CommandCall, Handler
from bot.turn.commit import Reply
from bot.turn.hooks import Hooks
from bot.turn.menus import ListEntry, ListMenu, ListPress, parse_list_press
from memory.characters import one_line
from memory.codec import dump_json
from memory.facts.context_facts import erase_facts, list_all, switch_off
from memory.facts.redis_facts import FactChoices, RedisFacts, are_extracted
from memory.history.fact import (
    LONGEST_STATEMENT,
    AwaitedCorrection,
    Fact,
    dump_corrections,
    with_correction,
    without_correction,
)
from memory.history.store import HistorySnapshot
from memory.keys import ContextRef, context_key, partition_key
from memory.recall.recall import Recall
from memory.redis.client import RedisClient
from memory.redis.lua import ScriptCall, lua_script

_CHOSEN_STEP, _RECEIPT_STEP = "fact", "fact_receipt"
"""Steps in the journal: the id of the fact that is being erased, or OFF; and the receipt."""
_OFF = "off"
_LIST = ListMenu(word=FACTS_BUTTON, actions={"delete": "list-delete", "correct": "facts-correct"})
_LINK_ROW = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class FactsCommand:
    """Shows, deletes and corrects facts, and turns them on and off. All raise Fenced, Forgotten and the store's errors.

    In a private chat the list has everything. In a group it has the facts about its owner, and those that the owner
    has told. Only the owner and the administrators may press its buttons.
    """

    facts: RedisFacts
    recall: Recall
    page_links: PageLinks
    redis: RedisClient
    is_extracting: bool
    """False if the settings turn facts off, or if there is no summary model."""
    clock: Callable[[], float]
    limit_line: Callable[[Words, HistorySnapshot], str]
    """Says for how long messages are kept."""

    async def run(self, call: CommandCall) -> Reply:
        """Show the list, or turn facts on or off."""
        match call.argument.casefold().split():
            case []:
                return await self._show(call, owner=call.user_id)
            case ["on"]:
                return await self._turn_on(call)
            case ["off"]:
                return await self._turn_off(call, is_whole=not call.is_group)
            case ["off", "all"]:
                return await self._turn_off(call, is_whole=True)
            case ["shown", *note] if call.update.update_id < 0:
                return await self._refresh(call, note)
            case _:
                return Reply(text=call.words("facts-usage"))

    def takes(self, call: CommandCall) -> tuple[str, Handler] | None:
        """Return the handler of the right statement for which the bot has asked."""
        awaited = correction_in(call.update, call.corrections)
        return None if awaited is None else ("correction", partial(self.correct, awaited=awaited))

    async def press(self, call: CommandCall) -> Reply | None:
        """Turn the page, delete a fact, or ask for the right statement, in the message of the list.

        A press on a fact that was deleted or changed since gets a notice and the present list.
        """
        press = parse_list_press(call.owner, call.argument)
        if press is None:
            return None
        receipt = await call.journal.finished(_RECEIPT_STEP)
        if receipt is not None:
            return await self._list(call, press, notice=receipt)
        if not await call.may_change(owner=press.owner):
            return Reply(notice=call.words("facts-not-yours"))
        chosen = await call.journal.finished(_CHOSEN_STEP)
        if chosen is not None:
            return await self._delete(call, press, chosen)
        if press.verb == "page":
            return await self._list(call, press)
        facts = await self._load(call, press.owner)
        fact = next((each for each in facts if token_of(each) == press.token), None)
        if fact is None:
            return replace(await self._list(call, press), notice=call.words("facts-outdated"))
        if press.verb == "correct":
            # The question takes the place of a list, so a message that may not be changed gets a new list first.
            return await self._ask(call, press, fact) if call.menu else await self._list(call, press)
        await call.journal.record_for_good(_CHOSEN_STEP, fact.id)
        return await self._delete(call, press, fact.id)

    async def correct(self, call: CommandCall, awaited: AwaitedCorrection) -> Reply:
        """Put the answer in place of the fact's statement. The answer has the present list, the question goes."""
        statement = one_line(call.argument)
        if not 0 < len(statement) <= LONGEST_STATEMENT:
            return Reply(text=call.words("facts-too-long", limit=LONGEST_STATEMENT))
        if not await call.may_change(owner=awaited.owner_id):
            return Reply(text=call.words("facts-not-yours"))
        epoch = call.snapshot.epoch
        fact = await self.facts.correct(
            call.ref, awaited.fact_id, statement, epoch=epoch, by=awaited.sender_id
        )
        notice = "facts-outdated" if fact is None else "facts-noted"
        reply = await self._page(
            call,
            ListPress(owner=awaited.owner_id, first=awaited.first),
            notice=call.words(notice, statement=statement),
        )
        return replace(
            reply,
            deletes=(awaited.telegram_id,),
            meta={"corrections": dump_corrections(without_correction(call.corrections, awaited.telegram_id))},
        )

    async def _refresh(self, call: CommandCall, note: Sequence[str]) -> Reply:
        """Show a list again in its message now that nothing is unread, unless it has changed since it was shown.

        Its update waits in the inbox, so a crash changes nothing. A crash between the end of an extraction and this
        update leaves it to the next extraction in this chat.
        """
        owner, first, update_id, message = map(int, note)
        record = partition_key(call.ref.partition, "update", update_id)
        fields: list[str] = await self.redis.call("HKEYS", record)
        messages = [message] if message else sorted(int(each[5:]) for each in fields if each[:5] == "sent:")
        press = ListPress(owner=owner, first=first)
        noted_as = (str(update_id), _note_of(call, press, messages[-1])) if messages else ()
        noted = await self.redis.call("HGET", context_key(call.ref, "fact_lists"), str(owner))
        if noted not in noted_as:
            return Reply()
        return replace(await self._page(call, press, message=messages[-1]), edits=messages)

    async def _show(self, call: CommandCall, *, owner: int) -> Reply:
        """Show the first page. Messages that wait to be read for facts are read now."""
        await self.facts.hurry(call.ref)
        return await self._page(call, ListPress(owner=owner))

    async def _list(self, call: CommandCall, press: ListPress, *, notice: str = "") -> Reply:
        """Put the present list in place of the message with the button."""
        telegram_id = call.message.message_id
        reply = await self._page(call, press, notice=notice, message=telegram_id if call.menu else 0)
        left = without_correction(call.corrections, telegram_id)
        return replace(reply, meta={"corrections": dump_corrections(left)} if call.corrections else {})

    async def _page(
        self, call: CommandCall, press: ListPress, *, notice: str = "", message: int = 0
    ) -> Reply:
        """Return a page of the list. `message` is that of the list, 0 for a new one.

        The list is noted before the unread messages are counted, so that none is read unnoticed in between.
        """
        state = self._state(call, await self.facts.choices(call.ref), press.owner)
        note = "" if state else _note_of(call, press, message)
        await self.facts.note_list(call.ref, press.owner, note, epoch=call.snapshot.epoch)
        facts = await self._load(call, press.owner)
        unread = await self.facts.count_unread(call.ref)
        place = "group" if call.is_group else "private"
        notes = [call.words("facts-buttons")] if facts else []
        if state:
            notes.append(call.words(state))
        elif not facts:
            notes.append(call.words("facts-none", place=place))
        if unread and not state:
            notes.append(call.words("facts-unread", count=unread))
        notes.append(self.limit_line(call.words, call.snapshot))
        title = call.words("facts-title", place=place)
        reply = facts_page(call.words, facts, at=press, title=title, notice=notice, notes=notes)
        links = self.page_links.open_place(call.place, call.words("memory-open"))
        return replace(reply, buttons=[*reply.buttons, *(replace(each, row=_LINK_ROW) for each in links)])

    def _state(self, call: CommandCall, choices: FactChoices, owner: int) -> str:
        """Return the catalogue's key of the reason why no facts are extracted about this person, or ""."""
        if not self.is_extracting:
            return "facts-unavailable"
        if not are_extracted(choices, is_group=call.is_group):
            return "facts-are-off-group" if call.is_group else "facts-are-off-private"
        is_off = not are_extracted(choices, is_group=call.is_group, person=owner)
        return "facts-are-off-person" if is_off else ""

    async def _load(self, call: CommandCall, owner: int) -> list[Fact]:
        return await list_all(self.facts, call.ref, people=[owner] if call.is_group else None)

    async def _ask(self, call: CommandCall, press: ListPress, fact: Fact) -> Reply:
        """Put the question for the right statement in place of the list."""
        await self.facts.note_list(call.ref, press.owner, "", epoch=call.snapshot.epoch)
        telegram_id = call.message.message_id
        awaited = AwaitedCorrection(
            telegram_id=telegram_id,
            fact_id=fact.id,
            sender_id=call.person_id,
            owner_id=press.owner,
            first=press.first,
            asked_at=self.clock(),
        )
        cancel = ListPress(owner=press.owner, first=press.first)
        statement = one_line(fact.statement, LONGEST_STATEMENT)
        return Reply(
            rich=RichText(text=call.words("facts-ask", statement=statement)),
            buttons=[Button(text=call.words("facts-cancel"), data=cancel.dump(FACTS_BUTTON))],
            meta={"corrections": dump_corrections(with_correction(call.corrections, awaited))},
        )

    async def _delete(self, call: CommandCall, press: ListPress, fact_id: str) -> Reply:
        """Erase the fact. Show the present list with one line of receipt."""
        receipt = await erase_facts(
            call.ref, [fact_id], epoch=call.snapshot.epoch, facts=self.facts, recall=self.recall
        )
        notice = fact_deleted_text(call.words, receipt)
        await call.journal.record_for_good(_RECEIPT_STEP, notice)
        return await self._list(call, press, notice=notice)

    async def _turn_off(self, call: CommandCall, *, is_whole: bool) -> Reply:
        """Stop the extraction about the sender or in the whole chat, erase what there was, and return the receipt."""
        receipt = await call.journal.finished(_RECEIPT_STEP)
        if receipt is not None:
            return Reply(text=receipt)
        is_resumed = await call.journal.finished(_CHOSEN_STEP) is not None
        if is_whole and call.is_group and not is_resumed and (refused := await call.refused()):
            return refused
        await call.journal.record_for_good(_CHOSEN_STEP, _OFF)
        done = await switch_off(
            call.ref,
            person=None if is_whole else call.user_id,
            epoch=call.snapshot.epoch,
            facts=self.facts,
            recall=self.recall,
        )
        whole = "facts-off-group" if call.is_group else "facts-off-private"
        key = whole if is_whole else "facts-off-person"
        text = forgotten_text(call.words, done, key=key)
        await call.journal.record_for_good(_RECEIPT_STEP, text)
        return Reply(text=text)

    async def _turn_on(self, call: CommandCall) -> Reply:
        """Let facts be extracted about the sender again. In a group only an administrator turns them on for it."""
        if not self.is_extracting:
            return Reply(text=call.words("facts-unavailable"))
        choices = await self.facts.choices(call.ref)
        if are_extracted(choices, is_group=call.is_group, person=call.user_id):
            return Reply(text=call.words("facts-already-on"))
        refused = await call.refused()
        await self.facts.switch_on(call.ref, person=call.user_id, context=refused is None)
        if not call.is_group:
            return Reply(text=call.words("facts-on-private"))
        if refused is None:
            return Reply(text=call.words("facts-on-group"))
        is_on = are_extracted(await self.facts.choices(call.ref), is_group=True)
        return Reply(text=call.words("facts-on-person" if is_on else "facts-are-off-group"))


def facts_page(
    words: Words, facts: Sequence[Fact], *, at: ListPress, title: str, notice: str, notes: Sequence[str]
) -> Reply:
    """Return one page of the sorted facts. Standing wishes and other facts have a title each."""

    def show(fact: Fact, number: int) -> ListEntry:
        heading = words("facts-standing") if fact.is_standing else title
        return ListEntry(heading=heading, line=_line(words, fact, number), token=token_of(fact))

    return _LIST.page(words, facts, show, at=at, notice=notice, notes=notes)


def _line(words: Words, fact: Fact, number: int) -> str:
    """Return the line of a fact. A statement that does not name its subject gets it in front."""
    subject, statement = one_line(fact.subject), one_line(fact.statement)
    if subject and subject.casefold() not in statement.casefold():
        statement = f"{subject}: {statement}"
    if fact.imported_from:
        statement = words("facts-imported", statement=statement, service=fact.imported_from)
    if fact.valid_to is None:
        return words("facts-line", number=number, statement=statement)
    until = datetime.fromtimestamp(fact.valid_to, UTC).date()
    return words("facts-line-closed", number=number, statement=statement, date=until)


def token_of(fact: Fact) -> str:
    """Return a digest of the fact's id and statement: a corrected fact has another one."""
    return hashlib.sha256(f"{fact.id}\n{fact.statement}".encode(errors="replace")).hexdigest()[:16]


def _note_of(call: CommandCall, press: ListPress, message: int) -> str:
    """Return the note of the list that this call shows: an update of our own that shows it again, without its number.

    `message` is that of the list, 0 for the one that the call sends.
    """
    number, callback = call.update.update_id, call.update.callback
    language = callback.language_code if callback else call.message.language_code
    place = replace(without_content(call.message), message_id=0, language_code=language)
    command = Command(
        name="facts", argument=f"shown {press.owner} {press.first} {number} {message}", mention=""
    )
    update = WaitingUpdate(
        update_id=0,
        admission=Admission(action="command", reason="list", command=command),
        message=replace(place, sender_id=press.owner),
        anchor_id=call.update.anchor_id,
    )
    payload = dump_json(WaitingUpdate, update)
    return dump_json(dict[str, str], {"token": str(number), "payload": payload})


@lua_script("bot.inbox.scripts")
def place_lists(ref: ContextRef, *, now: float, rules: FiringRules) -> ScriptCall: ...


async def build(parts: Parts) -> Built:
    """Return the command, the buttons of its list, and the hook for corrections."""
    stores = parts.stores
    facts = FactsCommand(
        facts=stores.facts,
        recall=stores.recall,
        page_links=parts.page_links,
        redis=stores.redis,
        is_extracting=parts.settings.extracts_facts,
        clock=parts.clock,
        limit_line=partial(limit_line, parts.settings),
    )
    return Built(
        commands={"facts": facts.run}, buttons={FACTS_BUTTON: facts.press}, hooks=Hooks(takes=(facts.takes,))
    )
