"""Texts of people who attack the page, and a memory that has them in every place where text can stand."""

from dataclasses import replace

from bot.agent.model import Usage
from bot.settings import SIMULATOR_TOKEN
from bot.transport.forms import context_keys
from bot.turn.answer_receipt import AnswerReceipt, CalledTool, RecalledMessage
from memory.artifacts.store import ContextArtifacts
from memory.codec import dump_json
from memory.history.contexts import get_or_create
from memory.history.fact import LONGEST_STATEMENT, LONGEST_SUBJECT, Fact
from memory.history.message import Message, Quote, Sender, message_id
from memory.history.redis_history import RedisHistory
from memory.history.summary import ArtifactNote, Summary, SummaryFact, SummaryText
from memory.keys import ContextRef, context_key
from memory.redis.client import RedisClient
from tests.browser.memory_page import program_ref
from tests.contract.memory_kit import RedisMemory
from tests.known_facts import learn, say_lines, told

_MARKUP = (
    "<script>attack('{n}')</script>",
    "<ScRiPt >attack('{n}')</sCrIpT >",
    "<script src=https://evil.example/{n}.js></script>",
    "<script src=data:text/javascript,attack('{n}')></script>",
    "<script type=module>attack('{n}')</script>",
    "</script><script>attack('{n}')</script>",
    "</p></article><img src=x onerror=attack('{n}')>",
    "<img src=x onerror=attack('{n}')>",
    "<img src=https://evil.example/{n}.png>",
    "<img srcset='https://evil.example/{n}.png 1x'>",
    '"><img src=x onerror=attack(`{n}`)>',
    "'><svg onload=attack('{n}')>",
    '" onmouseover="attack(\'{n}\')" x="',
    "' autofocus onfocus='attack(`{n}`)",
    "<svg/onload=attack('{n}')>",
    "<svg><script>attack('{n}')</script></svg>",
    "<svg><animate onbegin=attack('{n}') attributeName=x dur=1s>",
    "<svg><use href='data:image/svg+xml,<svg onload=attack({n})>#x'></svg>",
    "<math><mi//xlink:href='data:x,<script>attack({n})</script>'>",
    "<iframe src=javascript:attack('{n}')></iframe>",
    "<iframe srcdoc='<script>parent.attack({n})</script>'></iframe>",
    "<object data=https://evil.example/{n}></object>",
    "<embed src=https://evil.example/{n}>",
    "<link rel=stylesheet href=https://evil.example/{n}.css>",
    "<style>@import 'https://evil.example/{n}.css';</style>",
    "<style>*{{background:url(https://evil.example/{n})}}</style>",
    "<base href=https://evil.example/{n}/>",
    "<meta http-equiv=refresh content='0;url=https://evil.example/{n}'>",
    "<form action=https://evil.example/{n}><button autofocus>Go</button></form>",
    "<input onfocus=attack('{n}') autofocus>",
    "<details open ontoggle=attack('{n}')><summary>x</summary></details>",
    "<video><source onerror=attack('{n}')></video>",
    "<audio src=x onerror=attack('{n}')>",
    "<body onload=attack('{n}')>",
    "<template><script>attack('{n}')</script></template>",
    "<a href=javascript:attack('{n}')>click</a>",
    "javascript:attack('{n}')",
    "[click](javascript:attack('{n}'))",
    "{{{{constructor.constructor('attack(`{n}`)')()}}}}",
    "${{attack('{n}')}}",
)
PAYLOADS = tuple(text.format(n=n) for n, text in enumerate(_MARKUP))
EMOJI = "🦔" * 4096
LONG_WORD = "w" * 4096
RIGHT_TO_LEFT = "\u202e\u2067 evil \u05d0\u05d1\u05d2 \u200f\u061c" + "\u202e" * 50
LAYOUT_BREAKERS = (EMOJI, LONG_WORD, RIGHT_TO_LEFT, "\n" * 500 + "end", "a\u0300" * 2000)
_BOT_ID = int(SIMULATOR_TOKEN.partition(":")[0])
_NOW = 1_795_000_000.0


async def fill_hostile_memory(redis: RedisClient, chat_id: int) -> None:
    """Give a private chat hostile messages, names, quotations, files, receipts, facts, a summary and topics."""
    ref, texts = program_ref(chat_id), (*PAYLOADS, *LAYOUT_BREAKERS)
    await get_or_create(
        redis, ref, context_keys=context_keys(_BOT_ID, chat_id, None), title=texts[0], now=_NOW
    )
    said = await RedisHistory(redis).append(ref, [_message(n, text) for n, text in enumerate(texts)], epoch=0)
    facts = await _tell_facts(redis, ref, texts)
    await _answer(redis, ref, texts, said, facts)
    await _summarise(redis, ref, texts, said)
    artifacts = ContextArtifacts(redis, ref, epoch=lambda: 0, clock=lambda: _NOW, ttl_s=10**8, keep_beyond=0)
    for n, text in enumerate(texts):
        await artifacts.keep(text, tool=text[:200], key=str(n))
        topic = program_ref(chat_id, 100 + n)
        keys = context_keys(_BOT_ID, chat_id, 100 + n)
        await get_or_create(redis, topic, context_keys=keys, title=text[:128], now=_NOW)


def _message(number: int, text: str) -> Message:
    return Message(
        id=message_id("hostile", number),
        role="user",
        text=text,
        sent_at=_NOW + 400 * number,
        tokens=10,
        sender=Sender(id=1000 + number % 3, name=text[:200]),
        note=f'a document "{text[:200]}.pdf"',
        forwarded_from=text[:200],
        quote=Quote(telegram_message_id=number, sender_name=text[:200], text=text[:600]),
    )


async def _tell_facts(redis: RedisClient, ref: ContextRef, texts: tuple[str, ...]) -> list[Fact]:
    """Save a fact for each text: it is the statement, and the name of its person or thing. Return them."""
    teller = Sender(id=4999, name=texts[7])
    (source,) = await say_lines(redis, ref, teller, ["all of this is true"])
    names = [text[:LONGEST_SUBJECT] for text in texts]
    subjects = [Sender(id=5000 + n, name=name) if n % 2 else name for n, name in enumerate(names)]
    facts = [
        told(teller, text[:LONGEST_STATEMENT], source, about=subject)
        for text, subject in zip(texts, subjects, strict=True)
    ]
    return await learn(redis, ref, *facts)


async def _answer(
    redis: RedisClient, ref: ContextRef, texts: tuple[str, ...], said: list[Message], facts: list[Fact]
) -> None:
    """Append answers whose receipts name hostile tools, models and agents, and recall hostile messages."""
    step = 5
    for first in range(0, len(texts), step):
        names = [text[:200] for text in texts[first : first + step]]
        answer = replace(
            said[first], id=message_id("answer", first), role="assistant", quote=None, sequence=None
        )
        await RedisHistory(redis).append(ref, [answer], epoch=0)
        receipt = AnswerReceipt(
            message_id=answer.id,
            at=answer.sent_at,
            agent=names[0],
            models=tuple(Usage(model=name) for name in names[:3]),
            prompt_tokens=100,
            room=1000,
            recalled=tuple(
                RecalledMessage(message_id=each.id, reasons=("words", "writer"))
                for each in said[first : first + step]
            ),
            facts=tuple(fact.id for fact in facts[first : first + step]),
            tools=tuple(CalledTool(name=name, outcome=name, seconds=1.0) for name in names),
        )
        key = context_key(ref, "receipt", answer.id)
        await redis.call("SET", key, dump_json(AnswerReceipt, receipt), "EX", 3600)


async def _summarise(
    redis: RedisClient, ref: ContextRef, texts: tuple[str, ...], said: list[Message]
) -> None:
    telling = SummaryText(
        overview=" ".join(texts),
        primary_goal=texts[0],
        facts=tuple(SummaryFact(about=text[:200], fact=text) for text in texts),
        artifacts=tuple(ArtifactNote(id="a1", tool=text[:200], holds=text) for text in texts),
        next=texts[1],
    )
    summary = Summary(
        id="s1",
        builds_on="",
        conversation_start=0,
        from_sequence=0,
        upto_sequence=3,
        text=telling,
        tokens=20,
        model="by hand",
        created_at=_NOW,
    )
    await RedisMemory(redis).add_summary(ref, summary, [message.id for message in said[:4]])
