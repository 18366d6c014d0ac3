"""Cost of facts: calls and tokens of the summary model for 100 messages of a person, in three kinds of chat.

Turns are committed to an embedded Redis, and the real queue and extractor read them, on a clock that jumps. The model is
a scripted endpoint on loopback, which finds a fact in every second line. Tokens are exact counts (o200k_base) of the
requests and answers. See benchmarks/README.md.
"""

import argparse
import asyncio
import json
import re
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from rig.table import print_table

from bot.agent.fact_model import ModelFactReader
from bot.agent.openai_model import open_openai_model
from bot.agent.structured import StructuredModel
from bot.observe.logs import configure_logs
from memory.embedded.valkey import open_valkey
from memory.facts.extractor import FactExtractor
from memory.history.message import Message
from memory.keys import partition_key
from memory.redis.client import open_redis
from memory.tokens import Tokenizer
from tests.contract.facts_kit import REF, FactStore, answered, open_facts, said
from tests.scripted_openai import ScriptedOpenAI, scripted_openai
from tests.scripted_replies import Reply, text
from tests.scripted_script import ChatRequest, last_user_text

MESSAGES = 100
WINDOW = 32_000
_TOPICS = (
    "garden river window copper lantern violin harbour meadow kettle thunder pepper saddle walnut canvas"
)
_WORDS_SAID, _WORDS_ANSWERED, _WORDS_OF_A_FACT = 20, 60, 10
_LINE = re.compile(r"^(\d+)\. \[", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Chat:
    """A kind of chat: messages of a turn, and the seconds before each turn, which repeat."""

    name: str
    messages: int
    pauses_s: Sequence[float]


CHATS = (
    Chat(name="a turn an hour", messages=1, pauses_s=(3_600,)),
    Chat(name="ten turns each hour, 20 s apart", messages=1, pauses_s=(3_600, *[20] * 9)),
    Chat(name="bursts of 20 messages, 5 min apart", messages=20, pauses_s=(300,)),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What the model read and wrote for one chat."""

    chat: str
    calls: int
    prompt_tokens: int
    answer_tokens: int
    facts: int


class Finder:
    """A model that finds a fact in every second line. `answers` has what it wrote."""

    def __init__(self) -> None:
        self.answers: list[str] = []

    def __call__(self, request: ChatRequest) -> Reply:
        lines = last_user_text(request).partition("\nLines:\n")[2]
        numbers = [int(number) for number in _LINE.findall(lines)][::2]
        first = sum(answer.count('"subject"') for answer in self.answers)
        facts = [
            {
                "subject": "Anna",
                "statement": _words(first + at, _WORDS_OF_A_FACT),
                "messages": [number],
                "replaces": [],
                "confidence": 0.9,
            }
            for at, number in enumerate(numbers)
        ]
        self.answers.append(json.dumps({"facts": facts}))
        return text(self.answers[-1])


async def main() -> None:
    """Run the chats, each in an empty store, and print what they cost."""
    options = _options()
    configure_logs(level="warning")
    with tempfile.TemporaryDirectory(prefix="mnemogram-bench-") as directory:
        async with open_valkey(Path(directory)) as redis_url, open_redis(redis_url) as redis:
            costs: list[Cost] = []
            for chat in CHATS:
                await redis.call("FLUSHALL")
                costs.append(await measure(await open_facts(redis), chat))
    if options.json:
        print(json.dumps([asdict(cost) for cost in costs]))
    else:
        _print(costs)


async def measure(store: FactStore, chat: Chat) -> Cost:
    """Let a person say MESSAGES messages, and read them as they become due."""
    finder, counter = Finder(), Tokenizer(encoding="o200k_base")
    async with (
        scripted_openai(finder) as endpoint,
        open_openai_model(model="scripted", api_key=None, base_url=endpoint.base_url) as model,
    ):
        structured = StructuredModel(model, tokenizer=counter, context_window=WINDOW, timeout_s=30)
        reader = ModelFactReader(structured)
        extractor = FactExtractor(queue=store.queue, reader=reader, partition=0)
        for turn in range(MESSAGES // chat.messages):
            begin = store.clock.now + chat.pauses_s[turn % len(chat.pauses_s)]
            await read_until(store, extractor, begin)
            store.clock.now = begin
            await store.commit(*_turn(turn, chat.messages, begin))
        await read_until(store, extractor, float("inf"))
        prompt_tokens = sum(map(counter.count, _request_texts(endpoint)))
    return Cost(
        chat=chat.name,
        calls=len(finder.answers),
        prompt_tokens=prompt_tokens,
        answer_tokens=sum(map(counter.count, finder.answers)),
        facts=(await store.facts.list(REF, limit=0)).total,
    )


async def read_until(store: FactStore, extractor: FactExtractor, until: float) -> None:
    """Move the clock from one due extraction to the next, up to this time, and run each."""
    while waiting := await store.redis.call("ZRANGE", partition_key(0, "extract"), 0, 0, "WITHSCORES"):
        due = float(waiting[0][1])
        if due > until:
            return
        store.clock.now = max(store.clock.now, due)
        await extractor.step()


def _turn(number: int, messages: int, at: float) -> list[Message]:
    """Return the messages of a turn and its answer."""
    spoken = [
        said(f"m{number}-{place}", _words(number * messages + place, _WORDS_SAID), sent_at=at)
        for place in range(messages)
    ]
    return [*spoken, answered(f"a{number}", _words(number, _WORDS_ANSWERED))]


def _words(seed: int, count: int) -> str:
    topics = _TOPICS.split()
    return f"{seed}: " + " ".join(topics[(seed * 7 + at * at) % len(topics)] for at in range(count))


def _request_texts(endpoint: ScriptedOpenAI) -> list[str]:
    return [
        str(part)
        for request in endpoint.chat_requests
        for part in (
            *(message["content"] for message in request.body["messages"]),
            json.dumps(request.body["response_format"]),
        )
    ]


def _print(costs: Sequence[Cost]) -> None:
    rows = [
        [
            cost.chat,
            str(cost.calls),
            f"{cost.prompt_tokens:,}",
            f"{cost.answer_tokens:,}",
            f"{(cost.prompt_tokens + cost.answer_tokens) / MESSAGES:,.0f}",
            str(cost.facts),
        ]
        for cost in costs
    ]
    title = f"Facts: calls and tokens of the summary model for {MESSAGES} messages of a person"
    print_table(title, ["chat", "calls", "prompt tokens", "answer tokens", "tokens a message", "facts"], rows)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    return parser.parse_args()


if __name__ == "__main__":
    asyncio.run(main())
