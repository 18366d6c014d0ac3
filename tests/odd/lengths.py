"""Rows of prompts that are too long, in the words of each vendor: asked once more, with half."""

from tests.odd.row import Refusal, Row, has, no
from tests.odd.wire import DONE, Answer, Json, as_json, chunk, error, event, raw

LETTER = "1 2 3 4 " * 375
"""A message of 3,000 tokens. Much longer ones may be halves of a paste, for whose rest the bot waits."""
_PART = LETTER[:40].strip()
LATER = "And what now?"
WINDOW = 7_000
"""Tokens. A prompt with the letter has more than a half of it, and room."""


def _is_long(request: Json) -> bool:
    return has(_PART)(request) and has(LATER)(request)


def too_long(name: str, answer: Answer, *, source: str = "") -> Row:
    """Return a row that refuses the second question while its prompt has the letter."""
    return Row(
        name=f"too long: {name}",
        source=source,
        refuses=(Refusal(when=_is_long, answer=answer),),
        asks=(LETTER, LATER),
        requests=(1, 2),
        sends=(no(has(_PART)), has(LATER)),
        window=WINDOW,
    )


def worded(name: str, message: str, *, source: str = "", status: int = 400) -> Row:
    """Return a row with a refusal in OpenAI's form."""
    return too_long(name, as_json(error(message), status=status), source=source)


def in_stream(name: str, data: object, *, source: str = "") -> Row:
    """Return a row with a refusal within a stream."""
    return too_long(
        f"{name}, in a stream", raw(chunk(role="assistant", content=""), event(data), DONE), source=source
    )


def unrelated(name: str, answer: Answer) -> Row:
    """Return a row with a temporary refusal whose words sound like length: the same prompt is sent again."""
    return Row(
        name=f"not too long: {name}",
        replies=(answer,),
        asks=(LETTER,),
        requests=(2,),
        sends=(has(_PART),),
        window=WINDOW,
    )


VLLM = (
    "This model's maximum context length is 4096 tokens. However, you requested 128 output "
    "tokens and your prompt contains at least 3969 input tokens, for a total of at least 4097 tokens."
)
ROWS = (
    worded(
        "OpenAI",
        "This model's maximum context length is 4097 tokens. However, your messages resulted in 4294 tokens.",
        source="chathub-dev/chathub#126",
    ),
    worded(
        "OpenAI's newer words",
        "Your input exceeds the context window of this model. Please adjust your input and try again.",
    ),
    worded("xAI", "This model's maximum prompt length is 131072 but the request contains 537812 tokens."),
    worded("vLLM", VLLM, source="vllm-project/vllm#36197"),
    worded(
        "vLLM's older words",
        "You passed 4097 input tokens and requested 0 output tokens. However, the "
        "model's context length is only 4096 tokens.",
    ),
    worded(
        "LM Studio",
        "Trying to keep the first 9000 tokens when context the overflows. The number of tokens to "
        "keep from the initial prompt is greater than the context length.",
    ),
    worded("Ollama", "prompt too long; exceeded max context length by 4 tokens"),
    worded(
        "llama.cpp",
        "the request exceeds the available context size. try increasing the "
        "context size or enable context shift",
    ),
    worded(
        "llama.cpp with 500", "input is too large to process. increase the physical batch size", status=500
    ),
    worded("SGLang", "The input (9012 tokens) is longer than the model's context length (4096 tokens)."),
    worded(
        "SGLang's request",
        "Requested token count exceeds the model's maximum context length of 4096 "
        "tokens. You requested a total of 9100 tokens.",
    ),
    worded("Anthropic", "prompt is too long: 213462 tokens > 200000 maximum"),
    worded(
        "Anthropic with the answer",
        "input length and `max_tokens` exceed context limit: 199759 + 8192 > 200000, decrease "
        "input length or `max_tokens` and try again",
        source="continuedev/continue#6080",
    ),
    worded(
        "Cohere",
        "too many tokens: total number of tokens in the prompt cannot exceed 4081 - "
        "received 9012. Try using a shorter prompt.",
    ),
    worded("Bedrock", "Input is too long for requested model."),
    worded("Qwen", "Range of input length should be [1, 30720]", source="InternalError.Algo of DashScope"),
    worded("Moonshot", "Your request exceeded model token limit: 8192 (requested: 9012)"),
    worded("MiniMax", "invalid params, context window exceeds limit (2013)"),
    worded("Zhipu", "Prompt 超长"),
    worded(
        "Mistral",
        "Prompt contains 65673 tokens and 0 draft tokens, too large for "
        "model with 32768 maximum context length",
    ),
    worded("Groq", "Please reduce the length of the messages or completion."),
    worded(
        "Groq's 413",
        "Request too large for model `llama-3.1-8b-instant` on tokens per minute (TPM): Limit 6000, "
        "Requested 9012, please reduce your message size and try again.",
        status=413,
    ),
    worded(
        "Gemini", "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575)."
    ),
    worded(
        "Poolside",
        "Input length 131393 exceeds the maximum allowed input length of 131040 tokens.",
        source="earendil-works/pi#4943",
    ),
    worded(
        "OpenRouter",
        "This endpoint's maximum context length is 32768 tokens. However, you requested about 42832 tokens.",
        source="refly-ai/refly#1177",
    ),
    worded("Copilot", "prompt token count of 9012 exceeds the limit of 8000"),
    worded(
        "TGI",
        "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: "
        "9012 `inputs` tokens and 100 `max_new_tokens`",
        status=422,
    ),
    worded("a gateway's 500", "500 input length too long", status=500, source="RooCodeInc/Roo-Code#1767"),
    too_long(
        "a code",
        as_json({"error": {"message": "Bad request", "code": "context_length_exceeded"}}, status=400),
    ),
    too_long(
        "413 of Anthropic",
        as_json(
            {
                "type": "error",
                "error": {"type": "request_too_large", "message": "Request exceeds the maximum size"},
            },
            status=413,
        ),
    ),
    too_long(
        "413 of nginx",
        Answer(pieces=(b"<h1>413 Request Entity Too Large</h1>",), status=413, content_type="text/html"),
    ),
    too_long(
        "400 without a body",
        Answer(pieces=(), status=400),
        source="earendil-works/pi (overflow.ts, of Cerebras)",
    ),
    too_long("a text", as_json({"error": "the prompt is too long for this model"}, status=400)),
    too_long("FastAPI", as_json({"detail": "Prompt has 9012 tokens, and the maximum is 4096"}, status=422)),
    in_stream(
        "vLLM",
        {"object": "error", "message": VLLM, "type": "BadRequestError", "code": 400},
        source="vllm-project/guidellm#743",
    ),
    in_stream(
        "xAI", error("This model's maximum prompt length is 4096 but the request contains 9012 tokens.")
    ),
    in_stream(
        "LM Studio",
        {
            "error": {
                "message": "The number of tokens to keep from the initial prompt is "
                "greater than the context length"
            }
        },
    ),
    in_stream(
        "Anthropic",
        {
            "type": "error",
            "error": {
                "type": "invalid_request_error",
                "message": "prompt is too long: 9012 tokens > 4096 maximum",
            },
        },
    ),
    unrelated(
        "Bedrock's throttle", as_json(error("Too many tokens, please wait before trying again."), status=429)
    ),
    unrelated(
        "tokens a minute",
        as_json(
            error("Rate limit reached on tokens per minute (TPM): Limit 15000, Used 11972, Requested 4351."),
            status=429,
        ),
    ),
    unrelated(
        "an overloaded server",
        as_json(error("Maximum queue length exceeded, please try again later."), status=503),
    ),
)
