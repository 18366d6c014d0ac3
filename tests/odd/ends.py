"""Rows of streams that end in other ways than with a finish reason, `[DONE]` and an empty line."""

from tests.odd.row import ANY, Like, Row
from tests.odd.wire import DONE, HELLO, USAGE, called, chunk, event, plain, raw, reminds, said, texts, whole

HALF = "The first half of"
CUT_OFF = "(cut off: the model's limit)"
TOLD = Like(rf"{HALF}\W.{{10,}}")
"""The half of an answer, and a sentence about the rest."""


def again(name: str, reason: str, *, source: str = "") -> Row:
    """Return a row whose finish reason says that the answer broke off: it is asked for again."""
    return Row(name=f"finish {name}", source=source, replies=(said(HALF, finish=reason),), requests=(2,))


def fine(reason: str, *, source: str = "") -> Row:
    """Return a row whose finish reason is another word for `stop`."""
    return Row(name=f"finish {reason}", source=source, replies=(said("Here you", " are.", finish=reason),))


def limited(reason: str, *, source: str = "") -> Row:
    """Return a row whose finish reason is a limit of tokens: the answer is continued once."""
    replies = (said(HALF, finish=reason), said(" an answer."))
    text = f"{HALF} an answer."
    return Row(name=f"continued after {reason}", source=source, replies=replies, reads=(text,), requests=(2,))


def filtered(reason: str, *, source: str = "") -> Row:
    """Return a row whose answer a filter stops: the person reads the half, and is told."""
    reply = said(HALF, finish=reason)
    return Row(name=f"filtered by {reason}", source=source, replies=(reply,), reads=(TOLD,), keeps=(ANY,))


ROWS = (
    Row(name="done alone", source="can1357/oh-my-pi#9609", replies=(raw(*texts("Here you", " are."), DONE),)),
    Row(name="done without a blank", replies=(raw(*texts(HELLO), b"data:[DONE]\n\n"),)),
    Row(name="done without its line breaks", replies=(raw(*texts(HELLO), b"data: [DONE]"),)),
    Row(
        name="usage and done without a reason",
        source="QuantumNous/new-api#696",
        replies=(raw(chunk(content=HELLO, usage=USAGE), event({"choices": [], "usage": USAGE}), DONE),),
    ),
    Row(name="a reason and neither usage nor done", replies=(raw(*texts(HELLO), chunk(finish="stop")),)),
    Row(
        name="calls and done without a reason",
        source="earendil-works/pi#6226",
        replies=(raw(chunk(tool_calls=[reminds()]), DONE),),
        requests=(2,),
        reminders=("Water the plants",),
    ),
    Row(
        name="usage in every chunk and a clean end",
        source="open-webui/open-webui#29064",
        replies=(raw(chunk(content=HALF, usage=USAGE)),),
        requests=(2,),
    ),
    Row(
        name="usage in every chunk and a closed connection",
        source="BerriAI/litellm#40266",
        replies=(raw(chunk(content=HALF, usage=USAGE), cuts=True),),
        requests=(2,),
    ),
    Row(
        name="a clean end in the middle",
        source="earendil-works/pi#5793",
        replies=(raw(*texts(HALF)),),
        requests=(2,),
    ),
    Row(name="an end before the first event", replies=(raw(),), requests=(2,)),
    Row(name="role and done", replies=(raw(chunk(role="assistant", content=""), DONE),), requests=(2,)),
    Row(name="an end within an event", replies=(raw(*texts(HALF), chunk(content="x")[:30]),), requests=(2,)),
    Row(
        name="an end within a letter",
        replies=(raw(*texts(HALF), b'data: {"choices": [{"delta": {"content": "Gr\xc3'),),
        requests=(2,),
    ),
    Row(
        name="calls that are cut off", replies=(raw(chunk(tool_calls=[reminds()]), cuts=True),), requests=(2,)
    ),
    again("insufficient resource", "insufficient_system_resource", source="deepseek-ai/DeepSeek-V3#1532"),
    again("error", "error", source="can1357/oh-my-pi#9433"),
    again("abort", "abort", source="sgl-project/sglang"),
    again("aborted", "aborted"),
    again("network error", "network_error", source="Zhipu's reason for a failed inference"),
    again("malformed call", "MALFORMED_FUNCTION_CALL", source="googleapis/python-genai#1836"),
    again("malformed call in small letters", "malformed_function_call", source="agentjido/req_llm#935"),
    again("unexpected call", "UNEXPECTED_TOOL_CALL", source="agentjido/req_llm#935"),
    again("server error", "server_error"),
    again("cancelled", "cancelled"),
    again("timeout", "timeout"),
    Row(
        name="finish error without a text",
        source="OpenRouterTeam/openrouter-examples#67",
        replies=(
            raw(chunk(content=None, finish="error", native_finish_reason="MALFORMED_FUNCTION_CALL"), DONE),
        ),
        requests=(2,),
    ),
    Row(name="a broken reason beside calls", replies=(called(reminds(), finish="error"),), requests=(2,)),
    *map(fine, ("STOP", "eos", "eos_token", "end_turn", "stop_sequence", "COMPLETE", "completed", "unknown")),
    limited("length", source="NousResearch/hermes-agent#627"),
    limited("MAX_TOKENS"),
    limited("max_tokens"),
    limited("model_length", source="Mistral's second reason"),
    limited("model_context_window_exceeded", source="earendil-works/pi (overflow.ts)"),
    Row(
        name="length twice",
        source="NousResearch/hermes-agent#7237",
        replies=(said(HALF, finish="length"), said(" an answer", finish="length")),
        reads=(Like(rf"{HALF} an answer.*{CUT_OFF.replace('(', '[(]').replace(')', '[)]')}"),),
        requests=(2,),
    ),
    Row(
        name="length of a continuation that breaks",
        replies=(said(HALF, finish="length"), *(raw(cuts=True),) * 3),
        reads=(Like(rf"{HALF}.*{CUT_OFF.replace('(', '[(]').replace(')', '[)]')}"),),
        requests=(None,),
    ),
    Row(
        name="length within a call",
        source="NousResearch/hermes-agent#83023",
        replies=(called(reminds('{"when": "in 20 minutes", "text": "Water the'), finish="length"),),
        reads=(ANY,),
        requests=(None,),
    ),
    filtered("content_filter", source="Oaklight/argo-proxy#91"),
    filtered("SAFETY", source="agentjido/req_llm#935"),
    filtered("RECITATION", source="agentjido/req_llm#935"),
    filtered("PROHIBITED_CONTENT"),
    filtered("BLOCKLIST"),
    filtered("sensitive", source="Zhipu's reason of a filter"),
    Row(
        name="filtered without a text",
        replies=(raw(chunk(role="assistant", content=None), chunk(finish="content_filter"), DONE),) * 2,
        reads=(Like(r".{10,}"),),
        remembers=False,
        requests=(None,),
    ),
    Row(
        name="the next question after a filter",
        replies=(said(HALF, finish="content_filter"), plain(HELLO)),
        asks=("hello", "again"),
        reads=(TOLD, HELLO),
        keeps=(ANY, HELLO),
        requests=(1, 1),
    ),
    Row(name="a whole completion in an event", replies=(raw(event(whole({"content": HELLO})), DONE),)),
)
