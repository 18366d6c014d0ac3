"""`import` of other services' histories: Telegram Desktop's, ChatGPT's and Claude's."""

import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from bot.cli.chats import chat_ref, find_chat, present_name
from bot.cli.failures import FAILED, CommandFailed
from bot.cli.output import count, one_line, print_json, print_line, print_table, utc
from bot.cli.reset import print_receipt
from bot.cli.session import ChatName, Progress, open_stores
from memory.errors import Forgotten

if TYPE_CHECKING:
    from bot.features.parts import Stores
    from bot.settings import Settings
    from memory.transfer.export_survey import Survey
    from memory.transfer.move_in import Destination, MoveIn, StoredImport

TAKEN = (
    "It is no history that can be imported. Taken are: a file of `mnemogram export`, result.json of Telegram Desktop"
    " (one chat or all), conversations.json of ChatGPT or Claude, and a zip with one of them."
)
NOTHING = "Nothing was imported."
_TITLE_CHARACTERS = 40


async def move_in(settings: "Settings", file: Path, *, into: ChatName | None, as_json: bool) -> None:
    """Survey the file, and import it into the chat, or each group of it into its own. Raises CommandFailed."""
    survey = _survey(file)
    async with open_stores(settings) as stores:
        job = _Job(settings=settings, stores=stores, file=file, survey=survey, as_json=as_json)
        targets = await job.targets(into)
        results = [await job.run(target) for target in targets]
    left = sum(each.messages for each in survey.counts) - sum(each.messages for each in targets)
    if as_json:
        print_json(
            {"service": survey.service, "imports": results, "left_out": survey.left_out, "elsewhere": left}
        )
        return
    if survey.left_out:
        print_line(
            "Left out: " + ", ".join(f"{number:,} {kind}" for kind, number in survey.left_out.items()) + "."
        )
    if left:
        print_line(
            f"{count(left, 'message')} of other chats were left out. `--chat CHAT` imports all of them there."
        )
    print_line(
        "New messages wait for the index. The workers make the search entries; `mnemogram queue` prints how many are"
        " left."
    )


async def manage(settings: "Settings", name: ChatName, *, forgets: str | None, as_json: bool) -> int:
    """List the imports of a chat, or forget one and print the receipt. Return the exit status."""
    from memory.transfer.move_in import forget_import, list_imports

    async with open_stores(settings) as stores:
        chat, snapshot = await find_chat(settings, stores, name)
        found = await list_imports(stores.redis, chat.ref)
        if forgets is None:
            _print_imports(found, chat.name, as_json=as_json)
            return 0
        chosen = next((each for each in found if each.id == forgets), None)
        if chosen is None:
            raise CommandFailed(
                f"Chat {chat.name} has no import {forgets}. `--list` lists those that it has."
            )
        receipt = await forget_import(
            stores.redis, chat.ref, chosen, epoch=snapshot.epoch, recall=stores.recall
        )
    if as_json:
        print_json(
            {"chat": chat.name, "import": chosen.id, "is_proven": receipt.is_proven, **receipt.counts()}
        )
    else:
        print_receipt(receipt, f"import {chosen.id} from {chosen.record.service} in chat {chat.name}")
    return 0 if receipt.is_proven else FAILED


def _survey(file: Path) -> "Survey":
    from memory.transfer.export_survey import CutExport, UnknownExport, survey_export
    from memory.transfer.json_stream import BadJson

    try:
        survey = survey_export(
            lambda: file.open("rb"), now=time.time(), progress=Progress("messages read").show
        )
    except UnknownExport:
        raise CommandFailed(f"{file}: {TAKEN} {NOTHING}") from None
    except CutExport as error:
        raise CommandFailed(f"{file}: {error}. {NOTHING} Export it again.") from None
    except BadJson as error:
        raise CommandFailed(f"{file}: {error}. {NOTHING}") from None
    except OSError as error:
        raise CommandFailed(f"{file} cannot be read: {error.strerror}. {NOTHING}") from None
    if not survey.messages:
        raise CommandFailed(f"{file}: this history of {survey.service} has no messages. {NOTHING}")
    return survey


@dataclass(frozen=True, slots=True, kw_only=True)
class _Target:
    """A chat that gets messages, and the numbers of the file's chats that it gets; None for all."""

    name: ChatName
    chats: frozenset[int] | None
    messages: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Job:
    """A surveyed file that is imported."""

    settings: "Settings"
    stores: "Stores"
    file: Path
    survey: "Survey"
    as_json: bool

    async def targets(self, into: ChatName | None) -> list[_Target]:
        """Return the chats that get messages. A group that is in the file gets its own only."""
        from memory.history.contexts import find_context

        of_chats: dict[ChatName, set[int]] = {}
        for chat in self.survey.chats.values():
            if chat.chat_id is not None and chat.chat_id < 0:
                name = await present_name(self.stores, ChatName(chat_id=chat.chat_id))
                of_chats.setdefault(name, set()).add(chat.number)
        if into is not None:
            name = await present_name(self.stores, into)
            own = of_chats.get(ChatName(chat_id=name.chat_id))
            chats = None if own is None or len(self.survey.chats) == 1 else frozenset(own)
            return [_Target(name=name, chats=chats, messages=_messages(self.survey, chats))]
        known = [
            _Target(name=name, chats=frozenset(numbers), messages=_messages(self.survey, frozenset(numbers)))
            for name, numbers in of_chats.items()
            if await find_context(self.stores.redis, await chat_ref(self.settings, self.stores, name))
        ]
        targets = [each for each in known if each.messages]
        if not targets:
            titles = ", ".join(
                f"{chat.title or 'a chat'} ({chat.chat_id})" for chat in list(self.survey.chats.values())[:3]
            )
            about = (
                f"The bot has no memory of its groups: {titles}"
                if of_chats
                else "It names no group of the bot"
            )
            raise CommandFailed(
                f"{self.file}: {one_line(about, longest=300)}. Name a chat with --chat CHAT. {NOTHING}"
            )
        return targets

    async def run(self, target: "_Target") -> dict[str, object]:
        """Import into one chat, with the progress on stderr. Return what --json prints."""
        from memory.tokens import tokenizer_for
        from memory.transfer.move_in import ImportGone, MoveIn

        place = await self._place(target.name)
        epoch = (await self.stores.history.load(place.ref, limit=0)).epoch
        work = MoveIn(
            redis=self.stores.redis,
            place=place,
            survey=self.survey,
            open_file=lambda: self.file.open("rb"),
            tokenizer=tokenizer_for(self.settings.openai_model),
            now=time.time(),
            chats=target.chats,
        )
        try:
            before = stored = await work.begin(epoch=epoch)
            if not before.is_whole:
                stored = await _run(work, before, epoch)
        except ImportGone:
            raise CommandFailed(
                f"This import of chat {target.name} is being forgotten. `--forget {work.id}` finishes that; import it"
                " again then."
            ) from None
        except Forgotten:
            raise CommandFailed(
                f"Chat {target.name} was reset during the import, so nothing of it is kept."
            ) from None
        if not self.as_json:
            print_line(_result(target.name, self.survey, before, stored))
        return {
            "chat": str(target.name),
            "import": stored.id,
            "messages": stored.record.messages,
            "added": stored.added,
            "forgotten": stored.forgotten,
            "was_imported_before": before.is_whole,
        }

    async def _place(self, name: ChatName) -> "Destination":
        from bot.transport.forms import context_keys
        from memory.history.contexts import dump_entry
        from memory.history.message import Sender
        from memory.transfer.move_in import Destination

        ref = await chat_ref(self.settings, self.stores, name)
        anchor_id = await self.stores.migrations.resolve(name.chat_id)
        people = (await self.stores.history.load(ref, limit=0)).people
        is_private = name.chat_id > 0
        return Destination(
            ref=ref,
            registered=dump_entry(
                context_keys(self.settings.bot_id, anchor_id, name.thread_id),
                title="",
                created_at=time.time(),
            ),
            person=Sender(id=name.chat_id, name=people.get(name.chat_id, "")) if is_private else None,
            bot_id=self.settings.bot_id,
            own_chat=name.chat_id,
        )


def _messages(survey: "Survey", chats: frozenset[int] | None) -> int:
    return sum(each.messages for each in survey.counts if chats is None or each.number in chats)


async def _run(work: "MoveIn", stored: "StoredImport", epoch: int) -> "StoredImport":
    progress = Progress("messages imported")
    async for step in work.run(stored, epoch=epoch):
        stored = step
        progress.show(step.done or 0, step.record.messages)
    return stored


def _result(name: ChatName, survey: "Survey", before: "StoredImport", stored: "StoredImport") -> str:
    messages = count(stored.record.messages, "message")
    forget = f"`mnemogram import --chat {name} --forget {stored.id}` forgets them."
    if before.is_whole:
        at = utc(before.record.started_at)
        return (
            f"Chat {name} has these {messages} from {survey.service} already, since {at}. {NOTHING} {forget}"
        )
    known = stored.record.messages - stored.added - stored.forgotten
    sentences = [f"Chat {name} has {stored.added:,} of {messages} from {survey.service} as new ones."]
    if known:
        sentences.append(f"Here already: {known:,}.")
    if stored.forgotten:
        sentences.append(f"Forgotten here before, so left out: {stored.forgotten:,}.")
    if stored.added or not stored.forgotten:
        sentences.append(forget)
    return " ".join(sentences)


def _print_imports(found: "list[StoredImport]", name: str, *, as_json: bool) -> None:
    if as_json:
        print_json(
            [
                {
                    "import": each.id,
                    "service": each.record.service,
                    "title": each.record.title,
                    "messages": each.record.messages,
                    "done": each.done,
                    "added": each.added,
                    "started_at": each.record.started_at,
                }
                for each in found
            ]
        )
        return
    if not found:
        print_line(f"Chat {name} has imported no history.")
        return
    rows = [
        (
            each.id,
            each.record.service,
            one_line(each.record.title, longest=_TITLE_CHARACTERS),
            each.record.messages,
            each.added,
            "whole" if each.is_whole else "being forgotten" if each.done is None else f"{each.done:,} read",
            utc(each.record.started_at),
        )
        for each in found
    ]
    print_table(
        ["import", "from", "title", ">messages", ">new", "state", "since (UTC)"], rows, wide=("title",)
    )
