"""Rows of calls in odd forms. The tool is the bot's own, so that the store tells what ran."""

import json
from typing import Any

from tests.odd.row import ANY, Row, tool_says
from tests.odd.wire import DONE, REMINDER, Answer, call_piece, called, chunk, event, raw, reminds

TEXT = REMINDER["text"]
GIVEN = json.dumps(REMINDER)
NAMED: dict[str, Any] = {"index": 0, "id": "call_a1", "name": "set_reminder"}


def runs(name: str, reply: Answer, *texts: str, source: str = "", requests: int = 2) -> Row:
    """Return a row whose calls set these reminders, by default one, at the first try."""
    return Row(
        name=f"call: {name}",
        source=source,
        replies=(reply,),
        requests=(requests,),
        sends=(tool_says("Set for"),),
        reminders=texts or (TEXT,),
    )


def reads_as(name: str, arguments: Any, *texts: str, source: str = "") -> Row:
    """Return a row with odd arguments of a whole call."""
    return runs(name, called(reminds(arguments)), *texts, source=source)


def with_more(**arguments: Any) -> str:
    """Return the arguments of the reminder and others."""
    return json.dumps(REMINDER | arguments)


def is_told(name: str, reply: Answer, words: str, *, source: str = "") -> Row:
    """Return a row whose call does not run. The model is told why, and answers."""
    return Row(
        name=f"told: {name}", source=source, replies=(reply,), requests=(2,), sends=(tool_says(words),)
    )


PIECES = (
    runs(
        "a new id in every piece",
        called(
            call_piece("", **NAMED),
            *(call_piece(GIVEN[at : at + 20], index=0, id=f"call_{at}") for at in range(0, len(GIVEN), 20)),
        ),
        source="cubist38/mlx-openai-server#216",
    ),
    runs(
        "a piece of {} first",
        called(call_piece("{}", **NAMED), call_piece(GIVEN, index=0)),
        source="openai/openai-agents-python (Bedrock)",
    ),
    runs(
        "an object of nothing first",
        called(call_piece({}, **NAMED), call_piece(GIVEN, index=0)),
        source="unslothai/unsloth#10275",
    ),
    runs(
        "an object of nothing, then the object",
        called(call_piece({}, **NAMED), call_piece(REMINDER, index=0)),
        source="unslothai/unsloth#10275",
    ),
    runs(
        "all pieces and the whole",
        called(call_piece(GIVEN[:9], **NAMED), call_piece(GIVEN[9:], index=0), call_piece(GIVEN, index=0)),
        source="lidge-jun/opencodex#361",
    ),
    runs(
        "the name of null later",
        called(call_piece(GIVEN[:9], **NAMED), call_piece(GIVEN[9:], index=0, id="", name="null")),
        source="BerriAI/litellm#12513",
    ),
    runs(
        "an empty name later",
        called(call_piece(GIVEN[:9], **NAMED), call_piece(GIVEN[9:], index=0, id=None, name="")),
    ),
    runs(
        "the name in every piece",
        called(call_piece(GIVEN[:9], **NAMED), call_piece(GIVEN[9:], **NAMED)),
        source="agentscope-ai/agentscope-java#1223",
    ),
    runs(
        "arguments of null at the end",
        called(reminds(), {"index": 0, "function": {"arguments": None}}),
        source="QuantumNous/new-api#3326",
    ),
    runs(
        "an empty piece at the end",
        called(reminds(), {"index": 0, "id": "", "type": "function", "function": {}}),
    ),
    runs("no id", called(reminds(id=None))),
    runs("no index", called(reminds(index=None))),
    runs("an index as text", called(reminds(index="0"))),
    runs("the first index is 1", called(reminds(index=1)), source="pipecat-ai/pipecat#4987"),
    runs(
        "the name in two pieces",
        called(call_piece(name="set_", index=0, id="call_a1"), call_piece(GIVEN, index=0, name="reminder")),
    ),
    runs("finish reason stop", called(reminds(), finish="stop"), source="danny-avila/LibreChat#14416"),
    runs(
        "finish reason function_call",
        called(reminds(), finish="function_call"),
        source="xusenlinzy/api-for-open-llm#193",
    ),
    runs(
        "beside a text",
        raw(chunk(content="I do it."), chunk(tool_calls=[reminds()]), chunk(finish="tool_calls"), DONE),
    ),
    runs(
        "in a list of one, as an object", raw(chunk(tool_calls=reminds()), chunk(finish="tool_calls"), DONE)
    ),
    runs(
        "of a message in a chunk",
        raw(
            event(
                {
                    "choices": [
                        {"index": 0, "message": {"tool_calls": [reminds()]}, "finish_reason": "tool_calls"}
                    ]
                }
            ),
            DONE,
        ),
    ),
    runs("a type in capitals", called(reminds(type="FUNCTION"))),
    runs("one id for two calls", called(reminds(), reminds(with_more(text="Sleep"), index=1)), TEXT, "Sleep"),
    runs(
        "one index for two calls",
        called(reminds(), reminds(with_more(text="Sleep"), id="call_b")),
        TEXT,
        "Sleep",
        source="BerriAI/litellm#21331",
    ),
    runs(
        "one index and no ids",
        called(reminds(id=None), reminds(with_more(text="Sleep"), id=None)),
        TEXT,
        "Sleep",
        source="unslothai/unsloth#10059",
    ),
    is_told(
        "two objects in one call",
        called(reminds(GIVEN + with_more(text="Sleep"))),
        "Make one call for each",
        source="NousResearch/hermes-agent#36039",
    ),
    runs(
        "a rest with another index",
        called(
            reminds(),
            call_piece(name="set_reminder", index=0, id="call_b"),
            call_piece(with_more(text="Sleep"), index=1),
        ),
        TEXT,
        "Sleep",
        source="agno-agi/agno#8880",
    ),
    runs(
        "a token behind the name",
        called(reminds(name="set_reminder<|channel|>commentary")),
        source="ollama/ollama#12132",
    ),
    runs(
        "a tag behind the name",
        called(reminds(name="set_reminder</arg_value>")),
        source="fw-ai-external/python-sdk#119",
    ),
    runs("the same call twice", called(reminds(), reminds(index=1, id="call_b"))),
    runs(
        "two calls in turns",
        called(
            call_piece(**NAMED),
            call_piece(name="set_reminder", index=1, id="call_b"),
            call_piece(GIVEN, index=0),
            call_piece(with_more(text="Sleep"), index=1),
        ),
        TEXT,
        "Sleep",
    ),
)

ARGUMENTS = (
    reads_as("arguments encoded twice", json.dumps(GIVEN), source="vllm-project/vllm#54964"),
    reads_as("an object", REMINDER),
    reads_as(
        "a bare line break",
        '{"when": "in 20 minutes", "text": "Water\nthe plants"}',
        "Water\nthe plants",
        source="NousResearch/hermes-agent#15356",
    ),
    reads_as(
        "a bare tab",
        '{"when": "in 20 minutes", "text": "Water\tthe plants"}',
        "Water\tthe plants",
        source="MoonshotAI/kimi-cli#1460",
    ),
    reads_as("a fence", f"```json\n{GIVEN}\n```"),
    reads_as("single quotes", str(REMINDER)),
    reads_as(
        "Python's words",
        "{'when': 'in 20 minutes', 'text': 'Water the plants', 'is_task': False, 'zone': None}",
    ),
    reads_as("a trailing comma", GIVEN[:-1] + ",}"),
    reads_as("bare keys", '{when: "in 20 minutes", text: "Water the plants"}'),
    reads_as("a comment", GIVEN[:-1] + " // soon\n}"),
    reads_as("prose around it", f"Arguments: {GIVEN} Done."),
    reads_as("repeated", GIVEN + GIVEN),
    is_told("no closing brace", called(reminds(GIVEN[:-1])), "cut off before their end"),
    reads_as("a byte order mark", "\ufeff" + GIVEN),
    reads_as(
        "null for what is left out",
        with_more(repeats=None, zone=None, is_task=None),
        source="microsoft/autogen#4997",
    ),
    reads_as(
        "texts of null for what is left out",
        with_more(repeats="null", zone="null"),
        source="Lazarus-AI/clearwing#107",
    ),
    reads_as("none for no repetition", with_more(repeats="none"), source="UKGovernmentBEIS/inspect_ai#1477"),
    reads_as("once for no repetition", with_more(repeats="once")),
    reads_as("empty texts for what is left out", with_more(repeats="", zone="")),
    reads_as("a boolean as text", with_more(is_task="false")),
    reads_as("a boolean as a number", with_more(is_task=0)),
)

TOLD = (
    is_told(
        "an argument that does not exist",
        called(reminds(with_more(timezone="UTC"))),
        "timezone",
        source="PrefectHQ/fastmcp#3265",
    ),
    is_told("a necessary argument of null", called(reminds('{"when": null, "text": "x"}')), "when"),
    is_told("arguments cut in the middle", called(reminds('{"when": "in 20 min')), "text|JSON"),
    is_told("a list", called(reminds("[1, 2]")), "object"),
    is_told("prose", called(reminds("in twenty minutes, please")), "JSON|object"),
    is_told("no name", called(reminds(name="")), "no tool"),
    is_told("an unknown name", called(reminds(name="delete_everything")), "delete_everything"),
    is_told("a name with blanks", called(reminds(name="set reminder")), "no tool"),
)


# Calls that are written as text ---------------------------------------------------------------------------
RAW = ("tool_call", "TOOL_CALLS", "set_reminder", "python_tag", "<function", "<tools", "arg_key", "invoke")


def written(
    name: str, *pieces: str, source: str = "", texts: tuple[str, ...] = (TEXT,), finish: str = "stop"
) -> Row:
    """Return a row with calls as text: they run, and nobody sees them."""
    reply = raw(*(chunk(content=piece) for piece in pieces), chunk(finish=finish), DONE)
    return Row(
        name=f"written: {name}", source=source, replies=(reply,), requests=(2,), reminders=texts, hides=RAW
    )


def unseen(name: str, text: str, *, source: str = "") -> Row:
    """Return a row with calls as text in a rarer form: it may run or not, and nobody sees it."""
    reply = raw(chunk(content=text), chunk(finish="stop"), DONE)
    return Row(
        name=f"unseen: {name}",
        source=source,
        replies=(reply,),
        reads=(ANY,),
        requests=(None,),
        reminders=None,
        hides=RAW,
    )


def stays(name: str, text: str, shown: str) -> Row:
    """Return a row with an ordinary answer that has JSON or tags: it is sent as it is, and nothing runs."""
    reply = raw(
        *(chunk(content=text[at : at + 12]) for at in range(0, len(text), 12)), chunk(finish="stop"), DONE
    )
    return Row(name=f"stays: {name}", replies=(reply,), reads=(shown,), keeps=(text,))


HERMES = json.dumps({"name": "set_reminder", "arguments": REMINDER})
LLAMAS = json.dumps({"name": "set_reminder", "parameters": REMINDER})
QWENS = (
    "<function=set_reminder>\n<parameter=when>\nin 20 "
    "minutes\n</parameter>\n<parameter=text>\nWater the plants\n</parameter>\n</function>"
)
SLEEP = json.dumps({"name": "set_reminder", "arguments": REMINDER | {"text": "Sleep"}})
GLMS = (
    "set_reminder\n<arg_key>when</arg_key>\n<arg_value>in 20 "
    "minutes</arg_value>\n<arg_key>text</arg_key>\n<arg_value>Water the plants</arg_value>"
)
INVOKED = (
    '<invoke name="set_reminder"><parameter name="when">in 20 minutes</parameter><parameter '
    'name="text">Water the plants</parameter></invoke>'
)

DEEPSEEKS = (
    "<|tool▁calls▁begin|><|tool▁call▁begin|>function<|tool▁sep|>"
    f"set_reminder\n```json\n{GIVEN}\n```<|tool▁call▁end|><|tool▁calls▁end|>"
).replace("|", "\uff5c")
"""The bars of DeepSeek are full-width."""
GEMMAS = '<|tool_call>call:set_reminder{when:<|"|>in 20 minutes<|"|>,text:<|"|>Water the plants<|"|>}'
FUNCTION_GEMMAS = (
    "<start_function_call>call:set_reminder{when:<escape>in 20 minutes<escape>,"
    "text:<escape>Water the plants<escape>}<end_function_call>call:set_reminder{}<end_function_call>"
)
DEEPSEEKS_NEW = (
    '<|DSML|tool_calls>\n<|DSML|invoke name="set_reminder">\n<|DSML|parameter name="when" '
    'string="true">in 20 minutes</|DSML|parameter>\n</|DSML|invoke>\n</|DSML|tool_calls>'
).replace("|", "\uff5c")
KIMIS_NEW = (
    '<|open|>toolscall tool="set_reminder" index="1"<|sep|><|open|>argument key="when" type="string"<|sep|>'
    "in 20 minutes<|close|>argument<|sep|><|close|>call<|sep|>"
)
MINIMAXES = (
    'I set it.]<]minimax[>[<tool_call>\n]<]minimax[>[<invoke name="set_reminder">]<]minimax[>[<when>'
    "in 20 minutes]<]minimax[>[</when>]<]minimax[>[</invoke>\n]<]minimax[>[</tool_call>"
)
KIMIS = (
    "<|tool_calls_section_begin|><|tool_call_begin|>functions.set_reminder:0<|tool_call_argument_begin|>"
    f"{GIVEN}<|tool_call_end|><|tool_calls_section_end|>"
)

WRITTEN = (
    written("Hermes", f"<tool_call>\n{HERMES}\n</tool_call>", source="NousResearch/hermes-agent#742"),
    written("Hermes in pieces", "<tool", "_call>\n", HERMES[:20], HERMES[20:], "\n</tool_", "call>"),
    written(
        "Hermes after a sentence",
        "I'll set it.\n",
        f"<tool_call>{HERMES}</tool_call>",
        source="NousResearch/hermes-agent#11994",
    ),
    written(
        "Hermes twice",
        f"<tool_call>{HERMES}</tool_call>\n<tool_call>{SLEEP}</tool_call>",
        texts=(TEXT, "Sleep"),
    ),
    written("Hermes without an end", f"<tool_call>\n{HERMES}\n", source="zeroclaw-labs/zeroclaw#1071"),
    written("Hermes after thoughts", f"<think>so be it</think>\n<tool_call>{HERMES}</tool_call>"),
    written(
        "Hermes with single quotes",
        f"<tool_call>{{'name': 'set_reminder', 'arguments': {REMINDER}}}</tool_call>",
    ),
    written("Hermes with the reason of calls", f"<tool_call>{HERMES}</tool_call>", finish="tool_calls"),
    written("a list of tools", f"<tools>\n{HERMES}\n</tools>", source="NousResearch/hermes-agent#83023"),
    written("Mistral", f"[TOOL_CALLS] [{HERMES}]"),
    written("Mistral with two", f"[TOOL_CALLS][{HERMES}, {SLEEP}]", texts=(TEXT, "Sleep")),
    written(
        "newer Mistral", "[TOOL_CALLS]", "set_reminder", "[ARGS]", GIVEN, source="raullenchai/Rapid-MLX#579"
    ),
    written("Llama's python_tag", f"<|python_tag|>{LLAMAS}"),
    written("Llama's function", f"<function=set_reminder>{GIVEN}</function>"),
    written("Llama's bare JSON", LLAMAS),
    written(
        "Llama's bare JSON with a type",
        json.dumps({"type": "function", "name": "set_reminder", "parameters": REMINDER}),
        source="vllm-project/vllm#11786",
    ),
    written("JSON alone", HERMES, source="jundot/omlx#2565"),
    written("JSON alone in a fence", f"```json\n{HERMES}\n```", source="irreg/native_tool_call_adapter#3"),
    written("Qwen's coder", f"<tool_call>\n{QWENS}\n</tool_call>", source="anomalyco/opencode#26162"),
    written("Qwen's coder without the outer tag", QWENS),
    written("Qwen's coder with a closing tag alone", f"{QWENS}\n</tool_call>"),
    written("Gemma", f"{GEMMAS}<tool_call|>", source="vllm-project/vllm#44522"),
    written("FunctionGemma, without end", FUNCTION_GEMMAS, source="docker/model-runner#1045"),
    written("Nemotron", f"<TOOLCALL>[{HERMES}]</TOOLCALL>"),
    written("InternLM", f"<|action_start|><|plugin|>{LLAMAS}<|action_end|>"),
    written(
        "gpt-oss with the recipient first",
        f"<|start|>assistant to=functions.set_reminder<|channel|>commentary json<|message|>{GIVEN}<|call|>",
        source="ml-explore/mlx-lm#875",
    ),
    unseen("newer DeepSeek", DEEPSEEKS_NEW),
    unseen("newer Kimi", KIMIS_NEW, source="can1357/oh-my-pi#8495"),
    unseen("newer MiniMax", MINIMAXES, source="MiniMax-AI/MiniMax-M3#31"),
    unseen("Apertus", f'<|tools_prefix|>[{{"set_reminder": {GIVEN}}}]<|tools_suffix|>'),
    unseen("Hunyuan", f"<tool_calls:opensource><tool_call:opensource>{GLMS}</tool_call:opensource>"),
    unseen("a mark in the singular", '[TOOL_CALL]\n{tool => "set_reminder", args => {}}\n[/TOOL_CALL]'),
    unseen("GLM", f"<tool_call>{GLMS}</tool_call>"),
    unseen("MiniMax", f"<minimax:tool_call>{INVOKED}</minimax:tool_call>"),
    unseen("Claude", f"<function_calls>{INVOKED}</function_calls>"),
    unseen("DeepSeek", DEEPSEEKS),
    unseen("Kimi", KIMIS),
    unseen(
        "a tool that is not offered", '<tool_call>{"name": "delete_everything", "arguments": {}}</tool_call>'
    ),
    stays(
        "JSON of an answer about JSON",
        'It looks like {"name": "Ada", "born": 1815} in a file.',
        'It looks like {"name": "Ada", "born": 1815} in a file.',
    ),
    stays("JSON alone of a record", '{"name": "Ada", "born": 1815}', '{"name": "Ada", "born": 1815}'),
    stays(
        "JSON of a tool that is not offered",
        '{"name": "get_weather", "arguments": {"city": "Oslo"}}',
        '{"name": "get_weather", "arguments": {"city": "Oslo"}}',
    ),
    stays(
        "a call that an answer explains",
        f"I would send this:\n\n```json\n{HERMES}\n```\n\nShall I?",
        f"I would send this:\n\n{HERMES}\n\nShall I?",
    ),
    stays(
        "a tag that an answer explains",
        f"Write `<tool_call>{HERMES}</tool_call>` there.",
        f"Write <tool_call>{HERMES}</tool_call> there.",
    ),
    stays(
        "Mistral's sign that an answer explains",
        "Mistral begins calls with `[TOOL_CALLS]`.",
        "Mistral begins calls with [TOOL_CALLS].",
    ),
    stays(
        "a function of C++",
        "Use `std::function<void()>` or <function> from the header.",
        "Use std::function<void()> or <function> from the header.",
    ),
)

ROWS = (*PIECES, *ARGUMENTS, *TOLD, *WRITTEN)
