"""Rows of thoughts that an endpoint sends within the answer or beside it."""

from typing import Any

from tests.odd.row import Row
from tests.odd.wire import (
    DONE,
    HELLO,
    HOLD,
    Reply,
    as_json,
    chunk,
    in_twelves,
    plain,
    raw,
    said,
    texts,
    whole,
)

SECRET = "Felix wants to be greeted, so I greet him"
"""Thoughts: `Felix` may be seen nowhere."""


def hidden(name: str, *pieces: str, source: str = "", first: dict[str, Any] | None = None) -> Row:
    """Return a row whose answer is HELLO. The chat shows `Here you` before the last word comes.

    `first` is a delta before the pieces.
    """
    begun = (chunk(**first),) if first else ()
    reply = raw(
        *begun, *texts(*pieces), chunk(content="Here you"), HOLD, chunk(content=" are.", finish="stop"), DONE
    )
    return Row(name=name, source=source, replies=(reply,), previews="Here you", hides=("Felix", "think", "◁"))


def late(name: str, *pieces: str, source: str = "", first: dict[str, Any] | None = None) -> Row:
    """Return a row whose thoughts have only a closing tag, so that a preview cannot know them before it."""
    begun = (chunk(**first),) if first else ()
    reply = raw(*begun, *texts(*pieces, "Here you", " are."), chunk(finish="stop"), DONE)
    return Row(name=name, source=source, replies=(reply,))


def kept(name: str, text: str, *, source: str = "") -> Row:
    """Return a row whose text has a tag that is no thought: the person reads all of it, rendered."""
    shown = text.replace("```html\n", "").replace("\n```", "").replace("`", "")
    return Row(name=name, source=source, replies=(said(*in_twelves(text)),), reads=(shown,), keeps=(text,))


def beside(name: str, delta: dict[str, Any], *, source: str = "") -> Row:
    """Return a row with thoughts in another field than the content."""
    reply = raw(
        chunk(role="assistant", **delta),
        chunk(**delta),
        *texts("Here you", " are."),
        chunk(finish="stop"),
        DONE,
    )
    return Row(name=name, source=source, replies=(reply,), hides=("Felix",))


def nothing_else(name: str, reply: Reply, *, source: str = "") -> Row:
    """Return a row with thoughts and no answer, which is asked for again."""
    return Row(name=name, source=source, replies=(reply,), requests=(2,), hides=("Felix",))


PARTS = {"content": [{"type": "thinking", "thinking": [{"type": "text", "text": SECRET}]}]}
DETAILS = [{"type": "reasoning.text", "text": SECRET, "format": "unknown", "index": 0}]

ROWS = (
    hidden("think in twelves", *in_twelves(f"<think>{SECRET}</think>\n\n"), source="openclaw/openclaw#69843"),
    hidden("think in one piece", f"<think>\n{SECRET}\n</think>\n\n", source="zed-industries/zed#58042"),
    hidden("thinking", f"<thinking>{SECRET}", "</thinking>", source="QwenLM/qwen-code#3228"),
    hidden("reasoning", "<reasoning>", SECRET, "</reasoning>\n", source="ggml-org/llama.cpp#11861"),
    hidden("thought", f"<thought>{SECRET}</thought>", source="ggml-org/llama.cpp#11861"),
    hidden("mm think", f"<mm:think>{SECRET}</mm:think>\n", source="earendil-works/pi#7155"),
    hidden("seed think", f"<seed:think>{SECRET}</seed:think>"),
    hidden("Kimi's triangles", f"◁think▷{SECRET}◁/think▷"),
    hidden("capitals", f"<THINK>{SECRET}</Think>\n"),
    late("only the closing tag", *in_twelves(f"{SECRET}\n</think>\n\n"), source="vllm-project/vllm#13125"),
    late("only the closing tag of thinking", f"{SECRET}</thinking>\n", source="anomalyco/opencode#36569"),
    late(
        "closing tag after a field",
        "</think>\n",
        first={"reasoning_content": SECRET},
        source="Cerebras/cerebras-cloud-sdk-python#10",
    ),
    hidden("opening tag cut", "<", "th", "ink", ">", SECRET, "</think>"),
    hidden("closing tag cut", "<think>", SECRET, "</", "thi", "nk>", "\n"),
    hidden("letter by letter", *f"<think>{SECRET}</think>"),
    hidden("blank before the tag", "\n", " <think>", SECRET, "</think>"),
    hidden(
        "two blocks", f"<think>{SECRET}</think>", f"<think>{SECRET}</think>", source="ItzCrazyKns/Vane#1034"
    ),
    hidden("two kinds of blocks", f"<think>{SECRET}</think><reasoning>{SECRET}</reasoning>"),
    hidden("empty block", "<think>\n\n</think>\n\n", source="QwenLM/qwen-code#8818"),
    hidden("code within thoughts", f"<think>{SECRET}\n```python\nprint(1)\n```\n</think>"),
    hidden("less-than signs in thoughts", f"<think>1 < 2, {SECRET} </ </thi </think>"),
    hidden(
        "thoughts in a field and in a block", f"<think>{SECRET}</think>", first={"reasoning_content": SECRET}
    ),
    Row(
        name="a block after the first words",
        source="QwenLM/qwen-code#3411",
        replies=(said("Here you", f"<think>{SECRET}</think>", " are."),),
        hides=("Felix", "think"),
    ),
    Row(
        name="thoughts without an end after an answer",
        replies=(said(HELLO, "\n<think>", SECRET),),
        hides=("Felix", "think"),
    ),
    nothing_else("thoughts without an end", said("<think>", SECRET)),
    nothing_else("thoughts alone", said("<think>", SECRET, "</think>")),
    nothing_else(
        "thoughts alone in a field",
        raw(chunk(reasoning_content=SECRET, content=None), chunk(finish="stop"), DONE),
    ),
    beside(
        "reasoning_content", {"reasoning_content": SECRET, "content": None}, source="sgl-project/sglang#18335"
    ),
    beside("reasoning field", {"reasoning": SECRET, "content": ""}),
    beside("reasoning_details", {"reasoning": SECRET, "reasoning_details": DETAILS, "content": ""}),
    beside("thinking field", {"thinking": SECRET, "content": ""}),
    beside(
        "thinking_blocks", {"thinking_blocks": [{"type": "thinking", "thinking": SECRET, "signature": "s"}]}
    ),
    beside("parts of thinking", PARTS),
    Row(
        name="thoughts in a whole completion",
        replies=(
            as_json(whole({"content": f"<think>{SECRET}</think>\n{HELLO}", "reasoning_content": SECRET})),
        ),
        hides=("Felix", "think"),
    ),
    Row(
        name="thoughts stay out of the next prompt",
        replies=(said(f"<think>{SECRET}</think>{HELLO}"), plain("And again.")),
        asks=("hello", "again"),
        reads=(HELLO, "And again."),
        requests=(1, 1),
        hides=("Felix",),
    ),
    kept("tag in a fence", "Write this:\n\n```html\n<think>why</think>\n```"),
    kept("tag in code", "The tag `<think>` opens the thoughts, and `</think>` closes them."),
    kept("tag in quotation marks", 'The tag "<think>" opens the thoughts, and "</think>" closes them.'),
    kept("closing tag in code alone", "Everything before `</think>` is a thought of the model."),
    kept("like a tag", "I <thinker> and <thin> things, and a <think-tank> too."),
    kept("less-than at the end", "It holds that 1 < 2, and a <thi"),
)
