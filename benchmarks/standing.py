"""Standing wishes: the share of PrefEval's stated preferences that are in the prompt of their question.

Every conversation is committed to an embedded Redis as turns commit it. The real queue and reader of facts read it from a
scripted endpoint, which marks each stated preference as a standing wish. Then a turn reads its work, and its prompt is
assembled. See benchmarks/README.md.
"""

import argparse
import asyncio
import json
import re
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import median

from facts_cost import read_until
from rig.locomo import Conversation, read_conversations
from rig.table import print_table

from bot.agent.agents_file import BUILT_IN_PROMPT
from bot.agent.fact_model import ModelFactReader
from bot.agent.openai_model import open_openai_model
from bot.agent.prompt.assembly import assemble
from bot.agent.prompt.parts import PromptBudget, PromptParts, RecordPart
from bot.agent.structured import StructuredModel
from bot.inbox.records import Arrival
from bot.observe.logs import configure_logs
from memory.embedded.valkey import open_valkey
from memory.facts.extractor import FactExtractor
from memory.history.fact import Fact
from memory.history.message import Message, Sender
from memory.redis.client import open_redis
from memory.tokens import Tokenizer
from tests.contract.facts_kit import REF, FactStore, answered, open_facts, said
from tests.scripted_facts import FactScript, ScriptedFact, wishes
from tests.scripted_openai import scripted_openai

WINDOW = 32_000
WORDS = 12
"""Words of a statement, which the reader's prompt asks for."""
_METER = Tokenizer(encoding="o200k_base")
_REASON = re.compile(r"(?:[,;]? (?:as I|because|due to|since|so I|including)\b|[.;] ).*")
_EMPHASIS = re.compile(
    r"\b(?:strongly|strong|really|very|extremely|absolutely|generally|typically|exclusively) "
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """Preferences in the prompts of their questions, with the wording of the statements."""

    wording: str
    questions: int
    answered: int
    fewest: int
    """Wishes in the prompt with the fewest."""
    tokens: float
    """Tokens of the part of the prompt, its heading included: the median over the conversations."""


async def main() -> None:
    """Measure each wording over all conversations, and print."""
    options = _options()
    configure_logs(level="warning")
    conversations = read_conversations(options.data)
    with tempfile.TemporaryDirectory(prefix="mnemogram-bench-") as directory:
        async with open_valkey(Path(directory)) as redis_url, open_redis(redis_url) as redis:
            shares: list[Share] = []
            for wording in ("as written", f"at most {WORDS} words"):
                found: list[tuple[int, int, RecordPart]] = []
                for conversation in conversations:
                    await redis.call("FLUSHALL")
                    found.append(await measure(await open_facts(redis), conversation, wording))
                shares.append(_share(wording, found))
    if options.json:
        print(json.dumps([asdict(share) for share in shares]))
        return
    print_table(
        "Standing wishes: stated preferences in the prompt of their question",
        ["statements", "questions", "in the prompt", "fewest wishes", "tokens"],
        [
            [
                each.wording,
                str(each.questions),
                f"{each.answered / each.questions:.1%}",
                str(each.fewest),
                f"{each.tokens:.0f}",
            ]
            for each in shares
        ],
    )


async def measure(store: FactStore, conversation: Conversation, wording: str) -> tuple[int, int, RecordPart]:
    """Return the number of questions, of those with their preference in the prompt, and the wishes' part."""
    writer = Sender(id=1, name=conversation.speakers[0])
    stated = {each for question in conversation.questions for each in question.evidence}
    script = FactScript(*(_wish(turn.text, wording) for turn in conversation.turns if turn.id in stated))
    async with (
        scripted_openai(script) as endpoint,
        open_openai_model(model="scripted", api_key=None, base_url=endpoint.base_url) as model,
    ):
        structured = StructuredModel(model, tokenizer=_METER, context_window=WINDOW, timeout_s=30)
        extractor = FactExtractor(queue=store.queue, reader=ModelFactReader(structured), partition=0)
        for turn in conversation.turns:
            is_writer = turn.speaker == writer.name
            message = said(turn.id, turn.text, by=writer) if is_writer else answered(turn.id, turn.text)
            await store.commit(replace(message, sent_at=turn.sent_at))
        await read_until(store, extractor, float("inf"))
    standing = await _read_turn(store, writer)
    part = _prompt(standing, said("question", conversation.questions[0].text, by=writer))
    told = {item.id for item in part.included}
    cited = {message for fact in standing if fact.id in told for message in fact.message_ids}
    return (
        len(conversation.questions),
        sum(question.evidence <= cited for question in conversation.questions),
        part,
    )


def _wish(text: str, wording: str) -> ScriptedFact:
    """Return the wish of a preference: its words, or without reasons and emphasis the first WORDS of them."""
    statement = text
    if wording != "as written":
        statement = " ".join(_EMPHASIS.sub("", _REASON.sub("", text)).split()[:WORDS])
    return wishes(json.dumps(text, ensure_ascii=False)[1:-1], statement)


async def _read_turn(store: FactStore, writer: Sender) -> Sequence[Fact]:
    """Return the wishes that the writer's next turn reads with its work."""
    update = len(store.updates) + 1
    payload = json.dumps({"message": {"sender_id": str(writer.id)}})
    await store.inbox.inbox.accept(Arrival(update_id=update, ref=REF, mode="turn", payload=payload))
    _, snapshot = await store.inbox.turns.take(await store.inbox.claim_one(), window=10)
    return snapshot.standing


def _prompt(standing: Sequence[Fact], question: Message) -> RecordPart:
    """Return the part of the wishes in the record of the question's prompt."""
    parts = PromptParts(system=BUILT_IN_PROMPT, standing=standing, prompt=[question])
    prompt = assemble(parts, PromptBudget(window=WINDOW, room=WINDOW), meter=_METER)
    return next(part for part in prompt.record.parts if part.part == "standing")


def _share(wording: str, found: Sequence[tuple[int, int, RecordPart]]) -> Share:
    return Share(
        wording=wording,
        questions=sum(questions for questions, _, _ in found),
        answered=sum(count for _, count, _ in found),
        fewest=min(len(part.included) for _, _, part in found),
        tokens=median(part.tokens for _, _, part in found),
    )


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="conversations in LoCoMo's format")
    parser.add_argument("--json", action="store_true")
    return parser.parse_args()


if __name__ == "__main__":
    asyncio.run(main())
