"""A history in memory for tests, tested by the same contract suites as the one in Redis."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from memory.errors import Forgotten
from memory.history.ledger import LedgerTurn
from memory.history.message import Message, edit_message, is_indexed, render_message
from memory.history.store import (
    PEOPLE_LIMIT,
    SESSION_GAP_S,
    SESSION_MESSAGES,
    CurrentMessages,
    Deletion,
    Erasure,
    HistorySnapshot,
    Passage,
    RecordCounts,
    SummaryState,
)
from memory.history.summary import Summary
from memory.history.talk import TALK_LOADED, RecentTalk, TalkLine
from memory.keys import ContextRef


@dataclass(slots=True)
class _Kept:
    epoch: int = 0
    next_sequence: int = 0
    conversation_start: int = 0
    created_at: float | None = None
    revision: int = 0
    messages: dict[str, Message] = field(default_factory=dict[str, Message])
    summaries: list[Summary] = field(default_factory=list[Summary])
    covers: dict[str, Collection[str]] = field(default_factory=dict[str, Collection[str]])
    ledger: list[LedgerTurn] = field(default_factory=list[LedgerTurn])
    people: dict[int, str] = field(default_factory=dict[int, str])
    sessions: list[int] = field(default_factory=list[int])
    last_sent_at: float | None = None
    talk: dict[int, TalkLine] = field(default_factory=dict[int, TalkLine])


class InMemoryHistory:
    """A HistoryStore in a dict.

    It queues no work and counts an artifact as stored while the ledger names it.
    """

    def __init__(self, *, talk: Mapping[ContextRef, Mapping[int, TalkLine]] | None = None) -> None:
        """`talk` are lines by their scores: what the door keeps in Redis."""
        self._contexts = {ref: _Kept(talk=dict(lines)) for ref, lines in (talk or {}).items()}

    async def load(self, ref: ContextRef, *, limit: int) -> HistorySnapshot:
        """See HistoryStore."""
        kept = self._kept(ref)
        conversation = _ordered(self._kept(ref), whole=False)
        summary = kept.summaries[-1] if kept.summaries else None
        uncovered = [m for m in conversation if summary is None or _sequence(m) > summary.upto_sequence]
        newest = tuple(uncovered[max(len(uncovered) - limit, 0) :])
        return HistorySnapshot(
            epoch=kept.epoch,
            count=len(kept.messages),
            conversation_count=len(conversation),
            conversation_start=kept.conversation_start,
            next_sequence=kept.next_sequence,
            created_at=kept.created_at,
            newest=newest,
            summary=summary,
            summary_state=SummaryState(covered_count=len(conversation) - len(uncovered)),
            ledger=tuple(t for t in kept.ledger if newest and t.last_sequence >= _sequence(newest[0])),
            revision=kept.revision,
            people=dict(kept.people),
            talk=RecentTalk(
                lines=tuple(kept.talk[score] for score in sorted(kept.talk)[-TALK_LOADED:]),
                count=len(kept.talk),
            ),
        )

    def keep_summary(self, ref: ContextRef, summary: Summary, covers: Collection[str] = ()) -> None:
        """Make this the current summary, as a compression does in Redis. `covers` are the messages it adds."""
        self._kept(ref).summaries.append(summary)
        self._kept(ref).covers[summary.id] = covers

    def keep_ledger_turn(self, ref: ContextRef, turn: LedgerTurn) -> None:
        """Store the calls of a turn, the newest last, as a commit does in Redis."""
        self._kept(ref).ledger.append(turn)

    async def append(self, ref: ContextRef, messages: Sequence[Message], *, epoch: int) -> list[Message]:
        """See HistoryStore."""
        if not messages:
            return []
        kept = _of_epoch(self._kept(ref), epoch)
        for message in messages:
            if message.id not in kept.messages:
                kept.messages[message.id] = replace(message, sequence=kept.next_sequence)
                _note_sender(kept, message)
                _note_session(kept, message)
                kept.next_sequence += 1
            if kept.created_at is None:
                kept.created_at = message.sent_at
        return [replace(message, sequence=kept.messages[message.id].sequence) for message in messages]

    async def page(
        self,
        ref: ContextRef,
        *,
        before_sequence: int | None = None,
        after_sequence: int | None = None,
        limit: int,
        whole: bool = False,
    ) -> list[Message]:
        """See HistoryStore."""
        ordered = _ordered(self._kept(ref), whole=whole)
        if after_sequence is not None:
            return [message for message in ordered if _sequence(message) > after_sequence][:limit]
        newest = [m for m in reversed(ordered) if before_sequence is None or _sequence(m) < before_sequence]
        return newest[:limit]

    async def get(self, ref: ContextRef, ids: Collection[str]) -> dict[str, Message]:
        """See HistoryStore."""
        kept = self._kept(ref)
        return {wanted: kept.messages[wanted] for wanted in ids if wanted in kept.messages}

    async def around(self, ref: ContextRef, sequences: Collection[int], *, reach: int) -> dict[int, Passage]:
        """See HistoryStore."""
        kept, ordered = self._kept(ref), _ordered(self._kept(ref), whole=True)
        found: dict[int, Passage] = {}
        for wanted in sequences:
            session = _session_of(kept, wanted)
            beside = [m for m in ordered if _session_of(kept, _sequence(m)) == session]
            upto = [message for message in beside if _sequence(message) <= wanted]
            messages = upto[max(len(upto) - reach - 1, 0) :] + beside[len(upto) :][:reach]
            found[wanted] = Passage(messages=tuple(messages))
        return found

    async def get_current(
        self, wanted: Mapping[ContextRef, Collection[str]]
    ) -> dict[ContextRef, CurrentMessages]:
        """See RedisHistory."""
        found: dict[ContextRef, CurrentMessages] = {}
        for ref, ids in wanted.items():
            kept, messages = self._kept(ref), await self.get(ref, ids)
            found[ref] = CurrentMessages(
                epoch=kept.epoch,
                messages=messages,
                people=dict(kept.people),
                sessions={m.id: _session_of(kept, _sequence(m)) for m in messages.values()},
            )
        return found

    async def replace(
        self,
        ref: ContextRef,
        message_id: str,
        *,
        text: str,
        tokens: int,
        edited_at: float,
        epoch: int,
        note: str | None = None,
    ) -> bool:
        """See HistoryStore."""
        kept = _of_epoch(self._kept(ref), epoch)
        found = kept.messages.get(message_id)
        if found is None:
            return False
        if found.edited_at is not None and edited_at < found.edited_at:
            return True
        edited = edit_message(found, text=text, note=note, tokens=tokens, edited_at=edited_at)
        kept.messages[message_id] = edited
        if (edited.is_refused, render_message(edited)) != (found.is_refused, render_message(found)):
            _drop_old_text(kept, found)
        return True

    async def refuse(self, ref: ContextRef, message_id: str, *, epoch: int) -> bool:
        """See HistoryStore."""
        kept = _of_epoch(self._kept(ref), epoch)
        found = kept.messages.get(message_id)
        if found is not None and not found.is_refused:
            kept.messages[message_id] = replace(found, is_refused=True)
            _drop_old_text(kept, found)
        return found is not None

    async def delete(
        self, ref: ContextRef, ids: Collection[str], *, epoch: int, quoted: Collection[int] = ()
    ) -> Deletion:
        """See HistoryStore."""
        if not ids and not quoted:
            return Deletion()
        kept = _of_epoch(self._kept(ref), epoch)
        gone = [kept.messages.pop(each) for each in dict.fromkeys(ids) if each in kept.messages]
        shown_as = [*quoted, *(message.telegram_message_id for message in gone)]
        stripped = _strip_quotes(kept, shown_as)
        kept.revision += bool(gone or stripped)
        _forget_senders(kept)
        sequences = tuple(_sequence(message) for message in gone)
        turns = _turns_of(kept.ledger, (*sequences, *stripped))
        kept.ledger = [turn for turn in kept.ledger if turn not in turns]
        quoting = _drop_quoting(kept, {*(message.id for message in gone), *_artifacts_of(turns)})
        turns += quoting
        artifacts = _artifacts_of(turns)
        telling = [*sequences, *stripped, *(turn.last_sequence for turn in quoting)]
        dropped = _drop_summaries(kept, telling)
        return Deletion(
            messages=len(gone),
            summaries=len(dropped),
            summary_ids=dropped,
            ledger_turns=len(turns),
            artifacts=len(artifacts),
            quotes=len(stripped),
            sequences=sequences,
            quoting=tuple(stripped),
            turn_ends=tuple(turn.last_sequence for turn in quoting),
            artifact_ids=artifacts,
            message_ids=tuple(ids) if gone else (),
            sender_ids=tuple(dict.fromkeys(message.sender.id for message in gone if message.sender)),
            known_by=_known_by(gone, quoted) if gone or stripped else (),
        )

    async def count_traces(self, ref: ContextRef, *, mentioning: Deletion | None = None) -> RecordCounts:
        """See HistoryStore."""
        kept = self._kept(ref)
        summaries, turns = kept.summaries, kept.ledger
        if mentioning is not None:
            summaries = _telling(kept, mentioning)
            of_them = _turns_of(turns, mentioning.sequences)
            turns = of_them + _quoting(turns, {*mentioning.message_ids, *mentioning.artifact_ids})
        artifacts = _artifacts_of(kept.ledger)
        if mentioning is not None:
            artifacts = tuple(each for each in artifacts if each in mentioning.artifact_ids)
        names = mentioning.known_by if mentioning is not None else ()
        quoting = _quoting_messages(kept, [int(each) for each in names if each.isdecimal()])
        return RecordCounts(
            quotes=len(quoting),
            summaries=len(summaries),
            ledger_turns=len(turns),
            artifacts=len(artifacts),
            people=len(kept.people) if mentioning is None else 0,
            sessions=len(kept.sessions) if mentioning is None else 0,
            talk=len(kept.talk) if mentioning is None else 0,
        )

    async def erase(self, ref: ContextRef) -> Erasure:
        """See HistoryStore."""
        gone = self._kept(ref)
        self._contexts[ref] = _Kept(epoch=gone.epoch + 1)
        return Erasure(
            epoch=gone.epoch + 1,
            messages=len(gone.messages),
            summaries=len(gone.summaries),
            ledger_turns=len(gone.ledger),
            artifacts=len(_artifacts_of(gone.ledger)),
            talk=len(gone.talk),
        )

    async def start_conversation(self, ref: ContextRef, *, epoch: int) -> int:
        """Start a conversation after the present messages. The summaries are dropped."""
        kept = _of_epoch(self._kept(ref), epoch)
        kept.conversation_start = kept.next_sequence
        kept.summaries.clear()
        return kept.conversation_start

    def _kept(self, ref: ContextRef) -> _Kept:
        return self._contexts.setdefault(ref, _Kept())


def _drop_old_text(kept: _Kept, changed: Message) -> None:
    kept.revision += 1
    quoting = _drop_quoting(kept, {changed.id})
    stripped = _strip_quotes(kept, {changed.telegram_message_id})
    _drop_summaries(kept, [_sequence(changed), *stripped, *(turn.last_sequence for turn in quoting)])


def _of_epoch(kept: _Kept, epoch: int) -> _Kept:
    if kept.epoch != epoch:
        raise Forgotten
    return kept


def _ordered(kept: _Kept, *, whole: bool) -> list[Message]:
    start = 0 if whole else kept.conversation_start
    return sorted((m for m in kept.messages.values() if _sequence(m) >= start), key=_sequence)


def _note_sender(kept: _Kept, message: Message) -> None:
    sender = message.sender
    if sender is not None and (sender.id in kept.people or len(kept.people) < PEOPLE_LIMIT):
        kept.people[sender.id] = sender.name


def _forget_senders(kept: _Kept) -> None:
    present = {message.sender.id for message in kept.messages.values() if message.sender}
    kept.people = {number: name for number, name in kept.people.items() if number in present}
    if not kept.messages:
        kept.sessions, kept.last_sent_at = [], None


def _note_session(kept: _Kept, message: Message) -> None:
    if not is_indexed(message):
        return
    last = kept.last_sent_at
    if (
        last is None
        or message.sent_at - last >= SESSION_GAP_S
        or kept.next_sequence - kept.sessions[-1] >= SESSION_MESSAGES
    ):
        kept.sessions.append(kept.next_sequence)
    kept.last_sent_at = message.sent_at if last is None else max(last, message.sent_at)


def _session_of(kept: _Kept, sequence: int) -> int:
    return max((start for start in kept.sessions if start <= sequence), default=0)


def _drop_summaries(kept: _Kept, sequences: Sequence[int]) -> tuple[str, ...]:
    present = [sequence for sequence in sequences if sequence >= kept.conversation_start]
    dropped = [s for s in kept.summaries if present and s.upto_sequence >= min(present)]
    kept.summaries = [s for s in kept.summaries if s not in dropped]
    return tuple(s.id for s in dropped)


def _telling(kept: _Kept, deleted: Deletion) -> list[Summary]:
    """Return the summaries that tell deleted messages. A later one repeats those before it."""
    for place, summary in enumerate(kept.summaries):
        if summary.id in deleted.summary_ids or not set(deleted.message_ids).isdisjoint(
            kept.covers[summary.id]
        ):
            return kept.summaries[place:]
    return []


def _known_by(gone: Sequence[Message], quoted: Collection[int]) -> tuple[str, ...]:
    """Return the ids of these messages and their Telegram ids, after the `quoted` ones."""
    names = [name for m in gone for name in (m.id, m.telegram_message_id) if name is not None]
    return tuple(str(name) for name in (*quoted, *names))


def _strip_quotes(kept: _Kept, telegram_ids: Collection[int | None]) -> list[int]:
    """Remove quotations of these from other messages. Return the sequences of those."""
    quoting = _quoting_messages(kept, telegram_ids)
    kept.messages |= {message.id: replace(message, quote=None) for message in quoting}
    return [_sequence(message) for message in quoting]


def _quoting_messages(kept: _Kept, telegram_ids: Collection[int | None]) -> list[Message]:
    """Return the messages that quote one of these. 0 stands for another chat and matches none."""
    wanted = {each for each in telegram_ids if each}
    return [m for m in kept.messages.values() if m.quote and m.quote.telegram_message_id in wanted]


def _drop_quoting(kept: _Kept, ids: set[str]) -> list[LedgerTurn]:
    """Drop the turns that quote one of these messages and artifacts, and turns that quote their artifacts."""
    dropped: list[LedgerTurn] = []
    while found := _quoting(kept.ledger, ids):
        kept.ledger = [turn for turn in kept.ledger if turn not in found]
        ids |= set(_artifacts_of(found))
        dropped += found
    return dropped


def _quoting(ledger: Sequence[LedgerTurn], ids: set[str]) -> list[LedgerTurn]:
    return [turn for turn in ledger if any(ids & set(entry.quotes.split()) for entry in turn.entries)]


def _turns_of(ledger: Sequence[LedgerTurn], sequences: Collection[int]) -> list[LedgerTurn]:
    return [t for t in ledger if any(t.first_sequence <= at <= t.last_sequence for at in sequences)]


def _artifacts_of(turns: Sequence[LedgerTurn]) -> tuple[str, ...]:
    named = (entry.artifact_id for turn in turns for entry in turn.entries if entry.artifact_id)
    return tuple(dict.fromkeys(named))


def _sequence(message: Message) -> int:
    return -1 if message.sequence is None else message.sequence
