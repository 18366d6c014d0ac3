"""Rows of fields that an endpoint sends with its calls and wants back unchanged."""

from typing import Any

from tests.odd.row import SWITCH, Check, Row, lacks_call_field, lacks_field, no, refuse
from tests.odd.wire import DONE, HELLO, Answer, as_json, called, chunk, raw, reminds, whole

SECRET = "Felix must not forget"
SIGNED = {"google": {"thought_signature": "EsQBCsEB Felix =="}}
DETAILS = [
    {"type": "reasoning.text", "text": SECRET, "format": "google-gemini-v1", "index": 0},
    {
        "type": "reasoning.encrypted",
        "data": "CiQB Felix ==",
        "id": "call_a1",
        "format": "google-gemini-v1",
        "index": 0,
    },
]
BLOCKS = [{"type": "thinking", "thinking": SECRET, "signature": "ErUB Felix"}]
GOOGLES = (
    "Function call is missing a thought_signature in functionCall parts. This "
    "is required for tools to work correctly."
)
KIMIS = "thinking is enabled but reasoning_content is missing in assistant tool call message at index 2"
OPENROUTERS = "Gemini models require OpenRouter reasoning details to be preserved in each request."


def demands(name: str, reply: Answer, lacks: Check, message: str, *, source: str = "") -> Row:
    """Return a row whose endpoint refuses a request that lacks its field. Another model gets no such field."""
    return Row(
        name=f"back: {name}",
        source=source,
        replies=(reply,),
        refuses=refuse(lacks, message),
        asks=("Remind me of the plants", SWITCH, "thank you"),
        requests=(2, 1),
        reminders=("Water the plants",),
        hides=("Felix",),
        sends=(no(_has_secret),),
    )


def _has_secret(request: dict[str, Any]) -> bool:
    return "Felix" in str(request)


def _streamed(field: str, *pieces: Any) -> Answer:
    """Return calls after a field in pieces."""
    return raw(
        chunk(role="assistant", content=None),
        *(chunk(**{field: piece}) for piece in pieces),
        chunk(tool_calls=[reminds()]),
        chunk(finish="tool_calls"),
        DONE,
    )


ROWS = (
    demands(
        "Gemini's signature",
        called(reminds(extra_content=SIGNED)),
        lacks_call_field("extra_content", SIGNED),
        GOOGLES,
        source="Gitlawb/openclaude#76",
    ),
    demands(
        "Gemini's signature in a later piece",
        called(reminds(), {"index": 0, "extra_content": SIGNED}),
        lacks_call_field("extra_content", SIGNED),
        GOOGLES,
    ),
    demands(
        "Gemini's signature on the first of two calls",
        called(reminds(extra_content=SIGNED), reminds("{}", name="current_time", index=1, id="call_b")),
        lacks_call_field("extra_content", SIGNED),
        GOOGLES,
    ),
    demands(
        "Gemini's signature in a whole completion",
        as_json(whole({"content": None, "tool_calls": [reminds(extra_content=SIGNED)]}, finish="tool_calls")),
        lacks_call_field("extra_content", SIGNED),
        GOOGLES,
    ),
    demands(
        "LiteLLM's signature",
        called(reminds(provider_specific_fields={"thought_signature": "Felix"})),
        lacks_call_field("provider_specific_fields", {"thought_signature": "Felix"}),
        GOOGLES,
        source="OpenHands/software-agent-sdk#1500",
    ),
    demands(
        "OpenRouter's details",
        _streamed("reasoning_details", *([each] for each in DETAILS)),
        lacks_field("reasoning_details", DETAILS),
        OPENROUTERS,
        source="LibreChat-AI/agents#37",
    ),
    demands(
        "OpenRouter's details at once",
        _streamed("reasoning_details", DETAILS),
        lacks_field("reasoning_details", DETAILS),
        OPENROUTERS,
        source="massgen/MassGen#624",
    ),
    demands(
        "DeepSeek's reasoning_content",
        _streamed("reasoning_content", SECRET),
        lacks_field("reasoning_content", SECRET),
        "Missing reasoning_content field in the assistant message",
        source="NousResearch/hermes-agent#16388",
    ),
    demands(
        "Kimi's reasoning_content in pieces",
        _streamed("reasoning_content", "Felix ", "must not", " forget"),
        lacks_field("reasoning_content", SECRET),
        KIMIS,
        source="continuedev/continue#11711",
    ),
    demands(
        "the reasoning of vLLM",
        _streamed("reasoning", "Felix ", "must not", " forget"),
        lacks_field("reasoning", SECRET),
        "reasoning is missing",
    ),
    demands(
        "Anthropic's blocks",
        _streamed("thinking_blocks", BLOCKS),
        lacks_field("thinking_blocks", BLOCKS),
        "Expected `thinking` or `redacted_thinking`, but found `tool_use`",
    ),
    Row(
        name="back: reasoning of two steps",
        source="bytedance/deer-flow#3043",
        replies=(
            _streamed("reasoning_content", SECRET),
            raw(
                chunk(reasoning_content=SECRET),
                chunk(tool_calls=[reminds("{}", name="current_time", id="call_b")]),
                chunk(finish="tool_calls"),
                DONE,
            ),
        ),
        refuses=refuse(lacks_field("reasoning_content", SECRET), KIMIS),
        asks=("Remind me of the plants", "thank you"),
        reads=(HELLO, HELLO),
        requests=(3, 1),
        reminders=("Water the plants",),
        hides=("Felix",),
    ),
)
