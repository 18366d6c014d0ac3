"""Rows of refused abilities: one request without it at once, and none with it in the next turn."""

from typing import Any

from tests.odd.row import (
    PHOTO,
    REFUSED,
    Check,
    Like,
    Refusal,
    Row,
    asks_for_usage,
    calls_twice,
    calls_without_tools,
    has,
    has_bare_calls,
    has_images,
    has_late_system,
    has_long_ids,
    has_parts,
    has_system,
    no,
    offers_tools,
    refuse,
    refuse_with,
    repeats_role,
    streams,
    streams_with_tools,
)
from tests.odd.wire import HELLO, as_json, called, error, plain, reminds

TOLD = Like(r".{10,}")
"""A sentence about the filter, which is not the one about any refusal."""
LEARNED = (2, 1)
"""Requests of two turns: a refused one, one without the ability, and in the next turn only such a one."""


def unable(
    name: str, refusals: tuple[Refusal, ...], *, source: str = "", sends: tuple[Check, ...] = ()
) -> Row:
    """Return a row of two questions. The refused ability is left out after the first refusal."""
    return Row(
        name=name,
        source=source,
        refuses=refusals,
        asks=("hello", "again"),
        requests=LEARNED,
        sends=(*(no(refusal.when) for refusal in refusals), *sends),
    )


def toolless(name: str, message: str, *, source: str = "", status: int = 400, **fields: Any) -> Row:
    """Return a row of a model without tools, which still streams and has its instructions."""
    refusals = refuse(offers_tools, message, status=status, **fields)
    return unable(f"no tools: {name}", refusals, source=source, sends=(streams, has_system))


def streamless(name: str, message: str, *, source: str = "", status: int = 400, **fields: Any) -> Row:
    """Return a row of a model that does not stream, which still has its tools."""
    refusals = refuse(streams, message, status=status, **fields)
    return unable(f"no stream: {name}", refusals, source=source, sends=(offers_tools,))


def undressed(name: str, when: Check, message: str, *, source: str = "", status: int = 400) -> Row:
    """Return a row of an endpoint that wants calls with a text, or with other ids than its own."""
    return Row(
        name=f"bare calls: {name}",
        source=source,
        replies=(called(reminds()), plain(HELLO), called(reminds())),
        refuses=refuse(when, message, status=status),
        asks=("hello", "again"),
        requests=(3, 2),
        reminders=None,
        sends=(offers_tools, no(when)),
    )


def usageless(name: str, body: object, *, source: str = "", status: int = 400) -> Row:
    """Return a row of an endpoint that does not know the option of usage, and still streams."""
    refusals = refuse_with(asks_for_usage, body, status=status)
    return unable(f"no stream_options: {name}", refusals, source=source, sends=(streams, offers_tools))


def systemless(name: str, message: str, *, source: str = "", status: int = 400) -> Row:
    """Return a row of a template without a system role: the instructions come as the person's message."""
    refusals = refuse(has_system, message, status=status)
    return unable(f"no system: {name}", refusals, source=source, sends=(offers_tools, has("Telegram")))


def alternating(name: str, body: object, *, source: str = "", status: int = 400) -> Row:
    """Return a row of a template that demands user and assistant in turns. A question recalls something."""
    return Row(
        name=f"roles: {name}",
        source=source,
        refuses=refuse_with(repeats_role, body, status=status),
        asks=(
            "My cat is called Felix the Great.",
            "/new",
            "What is my cat called?",
            "And what is my cat called again?",
        ),
        reads=(HELLO,) * 3,
        keeps=(HELLO,) * 2,
        requests=(None, None, 1),
        sends=(has("Felix the Great"), offers_tools),
    )


def blind(name: str, body: object, *, source: str = "", status: int = 400, when: Check = has_images) -> Row:
    """Return a row of a model that is thought to see, and does not."""
    return Row(
        name=f"no pictures: {name}",
        source=source,
        refuses=refuse_with(when, body, status=status),
        asks=(PHOTO, PHOTO),
        requests=LEARNED,
        sends=(offers_tools, streams, has("could not be shown to you")),
        sees=True,
    )


def other(name: str, body: object, *, source: str = "", status: int = 400) -> Row:
    """Return a row whose first request is refused for something else, so that no ability is lost."""
    return Row(
        name=f"no ability: {name}",
        source=source,
        replies=(as_json(body, status=status),),
        asks=("hello", "again"),
        reads=(REFUSED, HELLO),
        requests=(1, 1),
        sends=(offers_tools, streams, has_system, asks_for_usage),
    )


TOOLS = (
    toolless(
        "Ollama",
        "registry.ollama.ai/library/gemma3:4b does not support tools",
        source="ZoneMinder/zmNinjaNg#309",
        type="api_error",
    ),
    toolless(
        "vLLM",
        '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set',
        source="Cinnamon/kotaemon#806",
    ),
    toolless(
        "OpenRouter",
        "No endpoints found that support tool use. To learn more about provider routing, visit: …",
        status=404,
        code=404,
        source="pydantic/pydantic-ai#2896",
    ),
    toolless("llama.cpp", "tools param requires --jinja flag", status=500, code=500, type="server_error"),
    toolless("llama.cpp with another status", "tool_choice param requires --jinja flag", status=501),
    toolless("Groq", "`tool calling` is not supported with this model"),
    toolless("DeepSeek", "deepseek-reasoner does not support Function Calling"),
    toolless("Gemini", "Function calling is not enabled for models/gemma-3-27b-it", code=400),
    toolless("SiliconFlow", "Function call is not supported for this model.", code=20037),
    toolless("Bedrock", "This model doesn't support tool use."),
    toolless(
        "Azure",
        "Unsupported parameter: 'tools' is not supported with this model.",
        param="tools",
        code="unsupported_parameter",
    ),
    toolless("Cohere", "model does not support tools as input", status=422),
    toolless(
        "a swarm",
        "No connected provider supports tool calling for this model.",
        status=404,
        source="graze-social/cocore#166",
    ),
    toolless(
        "a tool_choice",
        "No endpoints found that support the provided 'tool_choice' value.",
        status=404,
        code=404,
        source="zed-industries/zed#36094",
    ),
    unable(
        "no tools: FastAPI",
        refuse_with(
            offers_tools,
            {
                "detail": [
                    {
                        "type": "extra_forbidden",
                        "loc": ["body", "tools"],
                        "msg": "Extra inputs are not permitted",
                    }
                ]
            },
            status=422,
        ),
    ),
    unable("no tools: a text", refuse_with(offers_tools, {"error": "this model does not support tools"})),
    Row(
        name="no tools while it streams",
        source="obot-platform/obot#4101",
        refuses=refuse(streams_with_tools, "This model doesn't support tool use in streaming mode."),
        asks=("hello", "again"),
        requests=LEARNED,
    ),
    Row(
        name="one call at a time",
        source="Llama's template: only single tool-calls at once",
        replies=(called(reminds(), reminds('{"when": "in 1 hour", "text": "Sleep"}', index=1, id="call_b")),),
        refuses=refuse(calls_twice, "This model only supports single tool-calls at once!"),
        requests=(None,),
        reminders=("Water the plants", "Sleep"),
    ),
)

CALLS = (
    Row(
        name="no calls beside no tools",
        source="BerriAI/litellm#24712",
        replies=tuple(called(reminds("{}", name="current_time", id=f"call_{n}")) for n in range(5)),
        refuses=refuse(
            calls_without_tools,
            "litellm.UnsupportedParamsError: Anthropic doesn't support tool calling without `tools=` param.",
        ),
        asks=("hello", "again"),
        requests=(7, 1),
        sends=(offers_tools,),
    ),
    undressed("no text", has_bare_calls, "messages.2.content: Input should be a valid string", status=422),
    undressed("null", has_bare_calls, "Invalid type for 'messages[2].content': got null instead"),
    undressed("empty", has_bare_calls, "The content field in the Message object at messages.2 is empty."),
    undressed("MiMo", has_bare_calls, "text is not set", source="NousResearch/hermes-agent#37841"),
    undressed(
        "dropped",
        has_bare_calls,
        "Message has tool role, but there was no previous assistant message with a tool call!",
        source="cubist38/mlx-openai-server#205",
        status=500,
    ),
    undressed(
        "ids of Mistral",
        has_long_ids,
        "Tool call id was call_a1 but must be a-z, A-Z, 0-9, with a length of 9.",
        source="jundot/omlx#1997",
        status=500,
    ),
)

STREAMS = (
    streamless(
        "OpenAI",
        "Your organization must be verified to stream this model. Please go to: …",
        param="stream",
        code="unsupported_value",
        source="charmbracelet/crush#422",
    ),
    streamless(
        "o1",
        "Unsupported value: 'stream' does not support true with this model. Supported values are: false.",
        param="stream",
        code="unsupported_value",
        source="github/gh-models#31",
    ),
    streamless(
        "another o1",
        "Unsupported value: 'stream' does not support true with this model. Only "
        "the default (false) value is supported.",
        param="stream",
        source="ChatGPTNextWeb/NextChat#6252",
    ),
    streamless("Bedrock", "The model is unsupported for streaming."),
    streamless("501", "Streaming is not implemented", status=501),
    streamless("500", "Streaming is not supported for this model", status=500),
    usageless(
        "Mistral",
        {
            "object": "error",
            "message": {
                "detail": [
                    {
                        "type": "extra_forbidden",
                        "loc": ["body", "stream_options", "include_usage"],
                        "msg": "Extra inputs are not permitted",
                        "input": True,
                    }
                ]
            },
            "type": "invalid_request_error",
        },
        status=422,
        source="openai/openai-agents-python#442",
    ),
    usageless(
        "Azure",
        error("Unknown parameter: 'stream_options'.", param="stream_options"),
        source="BoltAI/BoltAI#135",
    ),
    usageless(
        "a path",
        {
            "error": {
                "code": 400,
                "message": "Validation error at #/stream_options: Extra inputs are not permitted",
            }
        },
        source="microsoft/semantic-kernel#10510",
    ),
    usageless("usage alone", error("Extra inputs are not permitted: include_usage"), status=422),
)

ROLES = (
    systemless("Gemma", "System role not supported", source="microsoft/autogen#1037"),
    systemless("llama.cpp", "Jinja Exception: System role not supported", status=500),
    systemless("o1-mini", "Unsupported value: 'messages[0].role' does not support 'system' with this model."),
    systemless("Gemini", "Developer instruction is not enabled for models/gemma-3-27b-it"),
    systemless("a list of roles", "messages.0.role: Input should be 'user' or 'assistant'", status=422),
    Row(
        name="no late system message",
        source="suitenumerique/conversations#197",
        refuses=refuse(has_late_system, "System message must be at the beginning."),
        asks=("hello", "again"),
        requests=(None, 1),
    ),
    alternating(
        "Mistral on vLLM",
        {
            "object": "error",
            "message": "After the optional system message, conversation roles must "
            "alternate user/assistant/user/assistant/...",
            "type": "BadRequestError",
            "code": 400,
        },
        source="vllm-project/vllm#6862",
    ),
    alternating(
        "Gemma",
        error("Conversation roles must alternate user/assistant/user/assistant/...", type="BadRequestError"),
        source="OpenSecretCloud/opensecret#120",
    ),
    alternating(
        "llama.cpp",
        error(
            "Jinja Exception: Conversation roles must alternate user/assistant/user/assistant/...", code=500
        ),
        status=500,
    ),
    alternating(
        "TGI",
        {
            "error": "Template error: template error: Conversation roles must alternate user/assistant",
            "error_type": "template_error",
        },
        status=422,
    ),
    alternating(
        "Anthropic",
        error(
            'messages: roles must alternate between "user" and "assistant", but '
            'found multiple "user" roles in a row'
        ),
        source="FlowiseAI/Flowise#2006",
    ),
    alternating(
        "Bedrock",
        error(
            "A conversation must alternate between user and assistant roles. Make sure "
            "the conversation alternates and try again."
        ),
        source="microsoft/semantic-kernel#10277",
    ),
    alternating(
        "Perplexity",
        error(
            "After the (optional) system message(s), user or tool message(s) should "
            "alternate with assistant message(s)."
        ),
    ),
    alternating("consecutive", error("Consecutive messages with the role 'user' are not allowed.")),
)

PICTURES = (
    blind("Ollama", {"error": "this model does not support image input"}, source="ollama/ollama#17301"),
    blind(
        "DeepSeek",
        error(
            "Failed to deserialize the JSON body into the target type: messages[7]: unknown variant "
            "`image_url`, expected `text` at line 1 column 114708"
        ),
        source="1jehuang/jcode#310",
    ),
    blind(
        "OpenAI",
        error(
            "Invalid content type. image_url is only supported by certain models.",
            param="messages.[1].content.[0].type",
        ),
        source="zou-group/textgrad#210",
    ),
    blind("OpenRouter", error("No endpoints found that support image input", code=404), status=404),
    blind(
        "llama.cpp",
        error(
            "image input is not supported - hint: if this is unexpected, you may need to provide the mmproj",
            code=500,
        ),
        status=500,
    ),
    blind(
        "vLLM",
        {"object": "error", "message": "At most 0 image(s) may be provided in one prompt.", "code": 400},
    ),
    blind(
        "vLLM without a processor",
        error("gpt-oss is not a multimodal model"),
        source="vllm-project/vllm#11629",
    ),
    blind("Bedrock", error("This model doesn't support the image content block that you provided.")),
    blind(
        "Groq",
        error(
            "'messages.1' : for 'role:user' the following must be "
            "satisfied[('messages.1.content' : value must be a string)]"
        ),
        when=has_parts,
    ),
    blind("a list", error("messages[1].content must be a string"), when=has_parts),
)

ALL_AT_ONCE = Row(
    name="all abilities refused, one after another",
    source="Gemma 2 on a small server",
    refuses=(
        *refuse(offers_tools, "This model does not support tools"),
        *refuse(asks_for_usage, "Unknown parameter: 'stream_options'."),
        *refuse(streams, "Streaming is not supported for this model"),
        *refuse(has_system, "System role not supported"),
        *refuse(repeats_role, "Conversation roles must alternate user/assistant/user/assistant/..."),
    ),
    asks=("hello", "again", "and again"),
    requests=(None, None, 1),
)

OTHERS = (
    other("an empty text", error("messages: text content blocks must be non-empty")),
    other(
        "a field of a message",
        error("Invalid type for 'messages[2].content': expected a string, but got null instead."),
    ),
    other(
        "a wrong stream of words", error("The request body could not be parsed: unexpected end of stream.")
    ),
    other("a country", error("Country, region, or territory not supported"), status=403),
    other("system prompts in words", error("Your request was flagged: it tries to read the system prompt.")),
    other("a wrong user", error("Invalid 'user': string too long.", param="user")),
    Row(
        name="a message that a filter refuses is left out afterwards",
        source="anthropics/claude-code#25778",
        refuses=refuse(
            has("poisonous"), "The prompt triggers our content management policy.", code="content_filter"
        ),
        asks=("Something poisonous, please", "hello", "/new", "hello again, is there something?"),
        reads=(TOLD, HELLO, HELLO),
        remembers=False,
        requests=(None, 1, 1),
    ),
)

ROWS = (*TOOLS, *CALLS, *STREAMS, *ROLES, *PICTURES, ALL_AT_ONCE, *OTHERS)
