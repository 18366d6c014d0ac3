"""Rows of streams with other framing, other chunks, and errors in place of chunks."""

import json
from typing import Any

from tests.odd.row import UNAVAILABLE, Row
from tests.odd.wire import (
    DONE,
    HELLO,
    USAGE,
    Answer,
    as_json,
    called,
    chunk,
    event,
    raw,
    reminds,
    said,
    texts,
    whole,
)

HALF = "The first half of"
STREAM = b"".join((*texts("Here you", " are."), chunk(finish="stop"), DONE))
TEXT = "Ёжик 👋🏽 \u2028你好"
LETTERS = f'data: {{"choices": [{{"delta": {{"content": "{TEXT}"}}}}]}}\n\n'.encode()
"""An event of JSON that is not ASCII, with a line separator of Unicode."""


def framed(name: str, *pieces: bytes, source: str = "") -> Row:
    """Return a row with a sound answer in odd bytes."""
    return Row(name=name, source=source, replies=(raw(*pieces),))


def failing(name: str, error: object, *, source: str = "", begin: tuple[bytes, ...] = texts(HALF)) -> Row:
    """Return a row with an error after the first half of the answer, which is asked for again."""
    data = error if isinstance(error, bytes) else event(error)
    return Row(name=f"error {name}", source=source, replies=(raw(*begin, data, DONE),), requests=(2,))


def odd(name: str, *chunks: Any, source: str = "") -> Row:
    """Return a row with odd chunks before an ordinary answer."""
    pieces = [each if isinstance(each, bytes) else event(each) for each in chunks]
    reply = raw(*pieces, *texts("Here you", " are."), chunk(finish="stop"), DONE)
    return Row(name=name, source=source, replies=(reply,))


def _other(**choice: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0} | choice]}


FRAMES = (
    framed("CRLF", STREAM.replace(b"\n", b"\r\n")),
    framed("CRLF cut between", *(bytes([each]) for each in STREAM.replace(b"\n", b"\r\n"))),
    framed("byte order mark", b"\xef\xbb\xbf" + STREAM),
    framed("data without a blank", STREAM.replace(b"data: ", b"data:")),
    framed("byte by byte", *(bytes([each]) for each in STREAM)),
    framed("all at once", STREAM),
    framed(
        "last event without its empty line", *texts("Here you"), chunk(content=" are.", finish="stop")[:-1]
    ),
    framed("last event without a line break", *texts("Here you"), chunk(content=" are.", finish="stop")[:-2]),
    framed("comments", b": OPENROUTER PROCESSING\n\n" * 3, STREAM, source="openclaw/openclaw#84063"),
    framed("comments between the lines", STREAM.replace(b"data: {", b": ping\ndata: {")),
    framed(
        "ids and names of events", STREAM.replace(b"data: {", b"id: 7\nevent: message\nretry: 10\ndata: {")
    ),
    framed("empty events", b"data:\n\n", b"\n\n", b"data: \n\n", STREAM, source="openai/openai-python#2960"),
    framed(
        "two lines of data",
        b'data: {"choices": [{"delta":\ndata: {"content": "Here you are."}}]}\n\n',
        chunk(finish="stop"),
        DONE,
    ),
    framed("done and garbage", STREAM, b"data: }{\n\n"),
    framed("named pings", b"event: ping\ndata: {}\n\n", STREAM),
    odd("pings of a type", {"type": "ping"}, {"type": "keepalive", "choices": []}),
    Row(
        name="a text of all alphabets",
        replies=(raw(*(bytes([each]) for each in LETTERS), chunk(finish="stop"), DONE),),
        reads=("Ёжик 👋🏽\n你好",),
        keeps=(TEXT,),
    ),
    Row(name="halves of a letter", replies=(said("Gr", "\ud83d", "\udc4b"),), reads=("Gr👋",)),
)

CHUNKS = (
    odd("no choices first", {"choices": [], "prompt_filter_results": [{"prompt_index": 0}]}),
    odd("choices of null", {"choices": None}, {"id": "c"}),
    odd("delta of null", _other(delta=None), _other(finish_reason=None), {"choices": [None]}),
    odd("null role and content", chunk(role=None, content=None, tool_calls=None, function_call=None)),
    odd("empty calls", chunk(content="", tool_calls=[])),
    odd("an error of null", {"error": None, "choices": []}, {"error": {}, "choices": []}),
    odd("usage of null", {"choices": [], "usage": None}, {"choices": [], "usage": {"prompt_tokens": None}}),
    odd("numbers as texts", {"choices": [], "usage": {"prompt_tokens": "9", "completion_tokens": 1.5}}),
    Row(
        name="content as parts",
        source="Mistral's magistral",
        replies=(
            raw(
                chunk(content=[{"type": "text", "text": "Here you"}]),
                chunk(content=[{"type": "text", "text": " are."}], finish="stop"),
                DONE,
            ),
        ),
    ),
    Row(
        name="content in the last chunk",
        replies=(raw(*texts("Here you"), chunk(content=" are.", finish="stop"), DONE),),
    ),
    Row(
        name="content after the reason",
        replies=(raw(*texts("Here you"), chunk(finish="stop"), chunk(content=" are."), DONE),),
    ),
    Row(
        name="the whole message beside each delta",
        source="Perplexity's chunks",
        replies=(
            raw(
                event(_other(delta={"content": "Here you"}, message={"content": "Here you"})),
                event(_other(delta={"content": " are."}, message={"content": HELLO}, finish_reason="stop")),
                DONE,
            ),
        ),
    ),
    Row(
        name="the reason twice",
        replies=(raw(*texts(HELLO), chunk(finish="stop"), chunk(finish="stop", usage=USAGE), DONE),),
    ),
    Row(
        name="a refusal as the answer",
        replies=(raw(chunk(refusal="I can't."), chunk(finish="stop"), DONE),),
        reads=("I can't.",),
    ),
    Row(
        name="a whole completion",
        source="mistralai/mistral-vibe#84",
        replies=(as_json(whole({"content": HELLO})),),
    ),
    Row(
        name="a whole completion as a stream",
        replies=(Answer(pieces=(json.dumps(whole({"content": HELLO})).encode(),)),),
    ),
    Row(
        name="a whole completion over many lines",
        replies=(as_json(json.dumps(whole({"content": HELLO}), indent=2)),),
    ),
    Row(
        name="a whole completion and done",
        source="decolua/9router#3492",
        replies=(Answer(pieces=(json.dumps(whole({"content": HELLO})).encode(), b"\ndata: [DONE]\n\n")),),
    ),
    Row(
        name="a whole completion of calls",
        replies=(as_json(whole({"content": None, "tool_calls": [reminds()]}, finish="tool_calls")),),
        requests=(2,),
        reminders=("Water the plants",),
    ),
    Row(
        name="a whole completion that broke off",
        replies=(as_json(whole({"content": HALF}, finish="error")),),
        requests=(2,),
    ),
    Row(
        name="an event of five megabytes",
        replies=(raw(b"data: " + b"x" * 5 * 2**20),) * 3,
        reads=(UNAVAILABLE,),
        requests=(3,),
    ),
    Row(
        name="2,000 calls",
        replies=(called(*(reminds("{}", name="current_time", index=n, id=f"c{n}") for n in range(2_000))),),
        requests=(2,),
    ),
    Row(
        name="10,000 empty chunks",
        replies=(raw(*(chunk(content=""),) * 10_000, *texts(HELLO), chunk(finish="stop"), DONE),),
    ),
)

OVERLOADED = "The server is overloaded."
ERRORS = (
    failing("in OpenAI's form", {"error": {"message": OVERLOADED, "type": "server_error", "code": None}}),
    failing(
        "of vLLM",
        {"object": "error", "message": OVERLOADED, "type": "InternalServerError", "code": 500},
        source="saberjack/SHTUCodeProxy#4",
    ),
    failing("as a text", {"error": OVERLOADED}),
    failing(
        "as an event",
        b'event: error\ndata: {"message": "overloaded"}\n\n',
        source="8monkey-ai/hebo-gateway#71",
    ),
    failing("as an event of a text", b"event: error\ndata: overloaded\n\n"),
    failing("of FastAPI", {"detail": OVERLOADED}),
    failing(
        "of Anthropic",
        {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}},
        source="farzaa/clicky#132",
    ),
    failing("of a type", {"type": "error", "code": "500", "message": OVERLOADED}, source="ogx-ai/ogx#5224"),
    failing(
        "with choices",
        {"error": {"code": 502, "message": OVERLOADED}}
        | _other(delta={"content": ""}, finish_reason="error"),
    ),
    failing(
        "of LM Studio",
        {"error": {"message": "Compute error."}, "message": "Compute error."},
        source="zendev-sh/goai#110",
    ),
    failing("of DashScope", {"code": "InternalError", "message": OVERLOADED, "request_id": "r1"}),
    failing("of MiniMax", {"choices": None, "base_resp": {"status_code": 1002, "status_msg": "rate limit"}}),
    failing("of a gateway", {"status": 503, "message": OVERLOADED, "success": False}),
    failing(
        "as a field of its own",
        b'error: {"code": 500, "message": "Compute error."}\n\n',
        source="ggml-org/llama.cpp#16109",
    ),
    failing("without data", b'{"error": {"message": "upstream closed"}}\n\n'),
    failing(
        "glued to an event",
        b'data: {"choices": [{"delta"\ndata: {"type": "error", "error": {"message": "x"}}\n\n',
        source="Wei-Shaw/sub2api#1471",
    ),
    failing("before the first text", {"error": {"message": OVERLOADED, "code": 503}}, begin=()),
    failing("that is not JSON", b"data: upstream connect error\n\n"),
    Row(
        name="200 with an error",
        source="xuzhougeng/wisp-science#681",
        replies=(as_json({"error": {"message": OVERLOADED}}),),
        requests=(2,),
    ),
    Row(
        name="200 with an error of vLLM",
        replies=(as_json({"object": "error", "message": OVERLOADED, "code": 500}),),
        requests=(2,),
    ),
    Row(
        name="200 with a page",
        replies=(Answer(pieces=(b"<html>Bad gateway</html>",), content_type="text/html"),),
        requests=(2,),
    ),
    Row(
        name="502 with a page",
        replies=(Answer(pieces=(b"<html>Bad gateway</html>",), status=502, content_type="text/html"),),
        requests=(2,),
    ),
    Row(name="204", replies=(Answer(pieces=(), status=204),), requests=(2,)),
)

ROWS = (*FRAMES, *CHUNKS, *ERRORS)
