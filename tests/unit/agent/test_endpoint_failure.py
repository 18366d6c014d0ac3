"""The errors for failed requests of all known servers."""

import pytest

from bot.agent.openai_format import failure_of, retry_after_s
from bot.errors import (
    ModelBarred,
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
    failure = failure_of(status, code=code, text=text)

    assert type(failure) is kind
    assert not text or text not in str(failure)
    assert "secret" not in str(failure)


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        (None, None),
        ("", None),
        ("soon", None),
        ("2.5", 2.5),
        ("-3", 0.0),
        ("nan", 0.0),
        ("Thu, 20 Nov 2025 18:03:30 GMT", 30.0),
        ("Thu, 20 Nov 2025 18:00:00 GMT", 0.0),
    ],
)
def test_retry_after_is_a_number_or_a_date(header: str | None, seconds: float | None) -> None:
    assert retry_after_s(header, now=1_763_661_780.0) == seconds
