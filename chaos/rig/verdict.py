"""The verdict on a load: the result of every acknowledged update and of every line."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from itertools import zip_longest

from chaos.card import Score
from chaos.rig.chat_load import LINE, ChatLoad, Place, Written, context_of, partition_of_chat
from chaos.rig.evidence import whole_history
from chaos.rig.system import System
from memory import keys
from memory.history.message import Message

TERMINAL = frozenset({"answered", "ignored", "refused", "forgotten", "dead"})
UNKNOWN = "send_outcome_unknown"
A_DEAD_ONE_OF = 200
"""Lines per allowed dead letter, in rows that kill or pause many workers: an update may lose three of them,
the third time alone.
"""
_AT_ONCE = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The findings.

    `lost`: acknowledged without a record; `unfinished`: a record without a terminal state. `unanswered`:
    lines whose update is "answered" and whose chat shows no answer; `unknown`: the same if the record
    says that two sends started with an unknown outcome; `misplaced`: faults in the order of histories and
    chats; `entries_twice`: lines that are in a history more than once; `answers_twice`: repetitions of
    answers. Of the `lines`, `otherwise` are those whose update ended in another state than answered, or
    not at all.
    """

    acknowledged: int
    states: Counter[str]
    lines: int
    otherwise: Sequence[str]
    lost: Sequence[int]
    unfinished: Sequence[int]
    unanswered: Sequence[str]
    unknown: Sequence[str]
    misplaced: Sequence[str]
    entries_twice: Counter[str]
    answers_twice: Counter[str]
    invalid_requests: int

    def hold(self, score: Score, *, lines: int, unknown_at_most: int = 0, otherwise_at_most: int = 0) -> None:
        """Add the checks of every row without losses and repetitions, except repeated answers.

        `lines` is the minimum that must have been written.
        """
        score.at_least("lines written", self.lines, lines)
        score.at_most("lines whose final state is not `answered`", len(self.otherwise), otherwise_at_most)
        score.exactly("acknowledged updates without a record", len(self.lost), 0)
        score.exactly("acknowledged updates without a terminal state", len(self.unfinished), 0)
        score.exactly("answered updates whose chat shows no answer", len(self.unanswered), 0)
        score.at_most(
            "answers cut off twice, recorded as such and not in the chat", len(self.unknown), unknown_at_most
        )
        score.exactly("histories and chats out of order", len(self.misplaced), 0)
        if self.misplaced:
            score.note("the first of them", self.misplaced[0])
        score.exactly("lines that are twice in a history", self.entries_twice.total(), 0)
        score.exactly("requests that OpenAI would refuse", self.invalid_requests, 0)
        score.note("acknowledged updates", self.acknowledged)
        score.note("terminal states", ", ".join(f"{count:,} {state}" for state, count in self.states.items()))


@dataclass(slots=True, kw_only=True)
class _Found:
    unanswered: list[str] = field(default_factory=list[str])
    unknown: list[str] = field(default_factory=list[str])
    misplaced: list[str] = field(default_factory=list[str])
    entries_twice: Counter[str] = field(default_factory=Counter[str])
    answers_twice: Counter[str] = field(default_factory=Counter[str])


async def judge(system: System, crowd: ChatLoad) -> Verdict:
    """Check everything after all work has ended (`evidence.settled`)."""
    acknowledged = {one.update_id: one.chat_id for one in crowd.acknowledged.values()}
    states = await states_of(system, acknowledged)
    reasons = await fields_of(system, acknowledged, "reason")
    found = _Found()
    for place in crowd.places:
        answered = [one for one in crowd.of(place) if states.get(one.update_id or 0) == "answered"]
        history = await whole_history(system.redis, context_of(place, system))
        unknown = {one.line for one in answered if reasons.get(one.update_id or 0) == UNKNOWN}
        _compare(found, place, answered, history, crowd.answers(place), unknown=unknown)
    return Verdict(
        acknowledged=len(states),
        states=Counter(state for state in states.values() if state),
        lines=len(crowd.written),
        otherwise=[one.line for one in crowd.written if states.get(one.update_id or 0) != "answered"],
        lost=[number for number, state in states.items() if not state],
        unfinished=[number for number, state in states.items() if state and state not in TERMINAL],
        unanswered=found.unanswered,
        unknown=found.unknown,
        misplaced=found.misplaced,
        entries_twice=found.entries_twice,
        answers_twice=found.answers_twice,
        invalid_requests=len(system.model.invalid_requests),
    )


async def states_of(system: System, chats: Mapping[int, int]) -> dict[int, str]:
    """Return the state of each of these updates (with their chats) from its record; "" without one."""
    return await fields_of(system, chats, "state")


async def fields_of(system: System, chats: Mapping[int, int], field: str) -> dict[int, str]:
    """Return a field of the record of each of these updates (with their chats); "" without it."""
    by_partition: dict[int, list[int]] = {}
    for update_id, chat_id in chats.items():
        by_partition.setdefault(partition_of_chat(chat_id, system), []).append(update_id)
    found: dict[int, str] = {}
    for partition, numbers in by_partition.items():
        for at in range(0, len(numbers), _AT_ONCE):
            some = numbers[at : at + _AT_ONCE]
            asked = [("HGET", keys.partition_key(partition, "update", number), field) for number in some]
            values = [str(value or "") for value in await system.redis.calls(asked)]
            found |= dict(zip(some, values, strict=True))
    return found


def _compare(
    found: _Found,
    place: Place,
    written: Sequence[Written],
    history: Sequence[Message],
    answers: Sequence[str],
    *,
    unknown: Set[str],
) -> None:
    """Check that each line is there once and in order.

    Each batch has an answer to its last line, and the chat shows these answers.
    """
    entries = lines_in(message.text for message in history if message.role == "user")
    expected = [one.line for one in written]
    found.entries_twice += _beyond_once(entries)
    if list(dict.fromkeys(entries)) != expected:
        found.misplaced.append(
            f"{place.name}: the history's lines are not those that were answered, in order"
        )
    promised, before = list[str](), ""
    for message in history:
        said = LINE.findall(message.text)
        if message.role == "user":
            before = said[-1] if said else before
        elif said:
            promised.append(said[-1])
            if said[-1] != before:
                found.misplaced.append(f"{place.name}: the answer to {said[-1]} stands behind {before}")
    shown = lines_in(answers)
    found.answers_twice += _beyond_once(shown)
    missing = [line for line in dict.fromkeys(promised) if line not in set(shown)]
    found.unknown += [line for line in missing if line in unknown]
    found.unanswered += [line for line in missing if line not in unknown]
    expected_here = [line for line in dict.fromkeys(promised) if line not in found.unknown]
    if expected and (not promised or promised[-1] != expected[-1]):
        found.unanswered.append(expected[-1])
    if not are_in_order(expected_here, shown):
        came = [line for line in shown if line in set(expected_here)]
        at = next(at for at, (one, other) in enumerate(zip_longest(came, expected_here)) if one != other)
        around = slice(max(0, at - 2), at + 6)
        found.misplaced.append(
            f"{place.name}: answers came as {came[around]}, not as {expected_here[around]}"
        )


def are_in_order(promised: Sequence[str], shown: Sequence[str]) -> bool:
    """Return True if the answers of a history were shown in its order.

    Others and repetitions may stand between them. A store that lost writes repeats answers, also in other groups.
    """
    left = iter(shown)
    return all(line in left for line in promised)


def lines_in(texts: Iterable[str]) -> list[str]:
    """Return the last line in each text that has one."""
    found = (LINE.findall(text) for text in texts)
    return [each[-1] for each in found if each]


def _beyond_once(lines: Sequence[str]) -> Counter[str]:
    return Counter({line: count - 1 for line, count in Counter(lines).items() if count > 1})
