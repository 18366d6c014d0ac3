"""The errors for failed requests of all known servers."""

import pytest

from bot.agent.abilities import ABILITIES, Ability
from bot.agent.openai_failures import (
    Refusal,
    failure_of,
    is_lasting,
    lacking_abilities,
    quote_endpoint,
    wait_s,
)
from bot.errors import (
    ModelBarred,
    ModelFiltered,
    ModelMissing,
    ModelQuotaExhausted,
    ModelRefused,
    ModelUnavailable,
    PromptTooLong,
)


@pytest.mark.parametrize(
    ("status", "code", "text", "kind"),
    [
        (None, "", "Connection error.", ModelUnavailable),
        (408, "", "", ModelUnavailable),
        (409, "", "", ModelUnavailable),
        (429, "rate_limit_exceeded requests", "", ModelUnavailable),
        (500, "server_error", "", ModelUnavailable),
        (529, "overloaded_error", "", ModelUnavailable),
        (None, "502 upstream", "OpenRouter says so in the stream", ModelUnavailable),
        (None, "401", "a key that ends while we stream", ModelBarred),
        (None, "²³¹", "digits that are no number", ModelUnavailable),
        (429, "insufficient_quota insufficient_quota", "", ModelQuotaExhausted),
        (402, "", "Insufficient credits", ModelQuotaExhausted),
        (None, "insufficient_quota", "", ModelQuotaExhausted),
        (400, "context_length_exceeded invalid_request_error", "", PromptTooLong),
        (400, "", "This model's maximum context length is 8192 tokens.", PromptTooLong),
        (400, "invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum", PromptTooLong),
        (400, "exceed_context_size_error", "", PromptTooLong),
        (
            400,
            "",
            "The input token count (9) exceeds the maximum number of tokens allowed (8)",
            PromptTooLong,
        ),
        (413, "", "", PromptTooLong),
        (400, "invalid_request_error", "messages: must not be empty", ModelRefused),
        (401, "invalid_api_key", "Incorrect API key provided: sk-secret", ModelBarred),
        (403, "", "", ModelRefused),
        (404, "model_not_found", "", ModelMissing),
        (403, "model_not_found", "Project x does not have access to model y", ModelMissing),
        (404, "api_error", 'model "qwen" not found, try pulling it first', ModelMissing),
        (404, "NotFoundError", "The model `qwen` does not exist.", ModelMissing),
        (400, "400", "deepseek/deepseek-coder is not a valid model ID", ModelMissing),
        (404, "404", "No endpoints found for x/y:free.", ModelMissing),
        (400, "invalid_request_error", "Model Not Exist", ModelMissing),
        (400, "1500 invalid_model", "Invalid model: x", ModelMissing),
        (400, "400 None", "Invalid model name passed in model=x. Call `/v1/models`", ModelMissing),
        (404, "404", "No endpoints found that support image input", ModelRefused),
        (422, "", "", ModelRefused),
    ],
)
def test_each_failure_gets_its_error_without_the_endpoints_words(
    status: int | None, code: str, text: str, kind: type[Exception]
) -> None:
    failure = failure_of(Refusal(status=status, code=code, message=text))

    assert type(failure) is kind
    assert not text or text not in str(failure)
    assert "secret" not in str(failure)


@pytest.mark.parametrize(
    "words",
    [
        "This model's maximum prompt length is 131072 but the request contains 200000 tokens.",
        "Please reduce the length of the messages.",
        "Trying to keep the first 5000 tokens when context overflows. The model has a context length of only 4096.",
        "prompt too long; exceeded max context length by 12 tokens",
        "Input is too long for requested model.",
        "Range of input length should be [1, 30720]",
        "Invalid request: Your request exceeded model token limit: 8192",
        "the request exceeds the available context size, try increasing it",
        "too many tokens: the total of 9000 tokens is larger than the limit",
        "The total number of tokens exceeds the model's maximum of 4096",
        "inputs must have less than 4096 tokens. Given: 9012",
        "请求的输入长度超过模型最大长度限制",
        "The decoder prompt (length 9000) is longer than the maximum model length of 4096.",
    ],
)
@pytest.mark.parametrize("status", [400, 500, None])
def test_a_prompt_that_is_too_long_is_known_in_other_words(words: str, status: int | None) -> None:
    assert type(failure_of(Refusal(status=status, message=words))) is PromptTooLong


@pytest.mark.parametrize(
    ("status", "words", "kind"),
    [
        (429, "Rate limit reached for tokens per min. Limit 8000, requested 300.", ModelUnavailable),
        (429, "Request too large for gpt-5: limit 8000, requested 9000 tokens per min.", PromptTooLong),
        (429, "You exceeded your current quota. Please retry in 3.1s.", ModelUnavailable),
        (429, "You exceeded your current quota, please check your plan.", ModelQuotaExhausted),
        (403, "The account balance is not enough: insufficient balance", ModelQuotaExhausted),
        (400, "Failed to call a function. tool_use_failed", ModelUnavailable),
        (400, "messages.1.content must be a string", ModelRefused),
        (
            403,
            'It requires moderation. Your input was flagged for "violence". No credits were charged.',
            ModelFiltered,
        ),
        (403, "Insufficient account balance", ModelQuotaExhausted),
        (429, "Your prepayment credits are depleted.", ModelQuotaExhausted),
    ],
)
def test_limits_that_pass_are_told_from_those_that_stay(
    status: int, words: str, kind: type[Exception]
) -> None:
    assert type(failure_of(Refusal(status=status, message=words))) is kind


@pytest.mark.parametrize(
    ("words", "lacking"),
    [
        ("registry/library/gemma3:4b does not support tools", {"tools"}),
        ('"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set', {"tools"}),
        ("No endpoints found that support tool use.", {"tools"}),
        ("Function calling is not enabled for models/gemma-3-27b-it", {"tools"}),
        ("tools param requires --jinja flag", {"tools"}),
        ("[{'type': 'extra_forbidden', 'loc': ['body', 'tools'], 'msg': 'Extra inputs'}]", {"tools"}),
        ("Your organization must be verified to stream this model.", {"stream"}),
        ("Unrecognized request argument supplied: stream_options", {"stream_options"}),
        ("System role not supported", {"system"}),
        ("Developer instruction is not enabled for models/gemma-3-27b-it", {"system"}),
        ("Unsupported value: 'messages[0].role' does not support 'system' with this model.", {"system"}),
        ("Conversation roles must alternate user/assistant/user/assistant/...", {"turns"}),
        ("After the optional system message, roles must alternate user and assistant", {"turns"}),
        ('messages: roles must alternate, but found multiple "user" roles in a row', {"turns"}),
        ("Unexpected role 'user' after role 'tool'", {"turns"}),
        ("Jinja Exception in the chat template", {"turns"}),
        ("This model only supports single tool-calls at once!", {"parallel_calls"}),
        ("'messages.2': property 'reasoning' is unsupported", {"opaque"}),
        ("response_format json_schema is not supported", {"json_schema", "json_object"}),
        ("Invalid role: system", {"system"}),
        ("role 'system' is invalid", {"system"}),
        ("The system role isn't allowed here", {"system"}),
        ("parameter.stream must be false", {"stream"}),
        ("function_call is not supported", {"tools"}),
        ("当前模型不支持工具调用", {"tools"}),
        ("当前模型不支持流式输出", {"stream"}),
        ("不支持 system 角色", {"system"}),
        ("unknown variant `system`, expected `user` or `assistant`", {"system"}),
        ("The toolConfig field must be defined when using toolUse content blocks.", {"tools"}),
        ("messages.1.content: Input should be a valid string", {"bare_calls"}),
        ("Tool call id was call_1 but must be a-z, with a length of 9", {"bare_calls"}),
        ("This model does not support multi-modal inputs", {"images"}),
        ('error parsing tool call: raw=\'{"query": "only me\'', set[str]()),
        (
            "Neither tools nor streaming nor the system role are supported: not available here",
            {"tools", "stream", "system"},
        ),
        ("The reasoning_content in the thinking mode must be passed back to the API.", set[str]()),
        ("messages: text content blocks must be non-empty", set[str]()),
        ("The server had an error while processing your request", set[str]()),
        ("Incorrect API key provided", set[str]()),
    ],
)
def test_a_refusal_names_what_the_model_lacks(words: str, lacking: set[Ability]) -> None:
    refusal = Refusal(status=400, message=words)

    found = lacking_abilities(refusal, ABILITIES, opaque_names=["reasoning", "reasoning_content"])

    assert found == lacking
    assert all(is_lasting(each, refusal) for each in found)


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (503, "stream error: service temporarily unavailable"),
        (429, "Rate limit exceeded for tools, only 10 per minute"),
        (500, "invalid tool call: unknown tool"),
    ],
)
def test_a_failure_that_passes_names_nothing(status: int, words: str) -> None:
    assert lacking_abilities(Refusal(status=status, message=words), ABILITIES) == set()


def test_what_a_request_does_not_use_is_not_lacking() -> None:
    refusal = Refusal(status=400, message="this model does not support tools")

    assert lacking_abilities(refusal, ["stream", "system"]) == set()


def test_nothing_is_learned_from_the_schema_of_one_tool() -> None:
    refusal = Refusal(status=400, message="Invalid schema for function 'find': 'items' is missing")

    assert lacking_abilities(refusal, ABILITIES) == {"tools"}
    assert not is_lasting("tools", refusal)


@pytest.mark.parametrize(
    ("headers", "words", "seconds"),
    [
        ({}, "", None),
        ({"retry-after": ""}, "", None),
        ({"retry-after": "soon"}, "", None),
        ({"retry-after": "2.5"}, "", 2.5),
        ({"retry-after": "20s"}, "", 20.0),
        ({"retry-after": "-3"}, "", 0.0),
        ({"retry-after": "nan"}, "", 0.0),
        ({"retry-after": "Thu, 20 Nov 2025 18:03:30 GMT"}, "", 30.0),
        ({"retry-after": "Thu, 20 Nov 2025 18:00:00 GMT"}, "", 0.0),
        ({"retry-after-ms": "150", "retry-after": "1"}, "", 0.15),
        ({}, '{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "3.1s"}', 3.1),
        ({}, "Please try again in 1.2s. Visit the console.", 1.2),
        ({}, "Please try again in 6m0s.", 360.0),
        ({}, "Please retry after 5 seconds.", 5.0),
        ({}, "Try again in 350ms.", 0.35),
        ({}, "Please try again later.", None),
        ({}, "retry_delay {\n  seconds: 27\n}", 27.0),
        ({}, '{"retryAfter": 7}', 7.0),
        ({}, '{"retry_after_ms": 700}', 0.7),
        ({}, "The limit resets in 30s.", 30.0),
        ({}, '{"resets_at": 1763661792, "resets_in_seconds": 12}', 12.0),
        ({}, '{"headers": {"X-RateLimit-Reset": "1763661792000"}}', 12.0),
        ({}, '{"headers": {"X-RateLimit-Reset": "1763661700"}}', 0.0),
    ],
)
def test_the_wait_is_read_from_headers_and_words(
    headers: dict[str, str], words: str, seconds: float | None
) -> None:
    assert wait_s(headers, words, now=1_763_661_780.0) == pytest.approx(seconds)


def test_the_endpoints_words_are_quoted_without_secrets_and_without_the_prompt() -> None:
    said = quote_endpoint(
        "Invalid key sk-abcdef123456 at https://me:pass@host/v1:\n the text 'my knee hurts so much' is bad "
        + "x " * 300,
        ["my knee hurts so much"],
    )

    assert "abcdef" not in said
    assert "pass" not in said
    assert "knee" not in said
    assert said.startswith("Invalid key ***")
    assert len(said) <= 301
