"""Refusals of content filters, in the words of many endpoints, and refusals that only resemble them."""

from typing import Any

import pytest

from bot.agent.openai_failures import Refusal, blocks_prompt, failure_of, is_filter_reason, is_filtered
from bot.errors import ModelBarred, ModelFiltered, ModelQuotaExhausted, ModelRefused, PromptTooLong


@pytest.mark.parametrize(
    ("status", "code", "text"),
    [
        (
            400,
            "content_filter",
            "The response was filtered. {'code': 'ResponsibleAIPolicyViolation'}",
        ),  # Azure
        (400, "400", "ContentPolicyViolationError: triggering Azure OpenAI's content management policy"),
        (
            400,
            "400 content_filter",
            "The request was rejected because it was considered high risk",
        ),  # Moonshot
        (
            400,
            "data_inspection_failed data_inspection_failed",
            "Input data may contain inappropriate content.",
        ),
        (400, "", "<400> InternalError.Algo.DataInspectionFailed: Input text data may contain it"),
        (500, "", "Input or output data may contain inappropriate content.."),  # through a gateway
        (400, "invalid_request_error invalid_request_error", "Content Exists Risk"),  # DeepSeek
        (400, "", "Error code: 400 {'detail': 'Content Exists Risk'}"),
        (
            400,
            "invalid_prompt invalid_request_error",
            "Invalid prompt: your prompt was flagged as potentially violating our usage policy.",
        ),
        (400, "invalid_prompt", "Invalid prompt: we've limited access to this content for safety reasons."),
        (403, "403", "m requires moderation. Your input was flagged {'metadata': {'flagged_input': 'a'}}"),
        (None, "403 content_policy_violation", "the provider declined"),  # OpenRouter, within a stream
        (403, "", "Content violates usage guidelines. Failed check: SAFETY_CHECK_TYPE_BIO"),  # xAI
        (400, "1301", "系统检测到输入或生成内容可能包含不安全或敏感内容"),  # BigModel
        (400, "1301", "System detected potentially unsafe or sensitive content in input or generation."),
        (422, "", "input new_sensitive (1026)"),  # MiniMax
        (400, "sensitive_words_detected new_api_error", "input contains sensitive words"),
        (400, "SensitiveContentDetected BadRequest", "The request may contain sensitive information."),
        (500, "prompt_blocked", "request blocked by Gemini API: PROHIBITED_CONTENT"),
        (400, "invalid_request_error", "Output blocked by content filtering policy"),  # Anthropic
        (400, "moderation_blocked", "Your request was rejected as a result of our safety system."),
        (400, "", "This content was flagged for possible cybersecurity risk."),
        (451, "censorship_blocked", ""),
        (451, "", "Unavailable For Legal Reasons"),
    ],
)
def test_a_filters_refusal_is_recognised(status: int | None, code: str, text: str) -> None:
    assert is_filtered(status, code, text)
    assert type(failure_of(Refusal(status=status, code=code, message=text))) is ModelFiltered


@pytest.mark.parametrize(
    ("status", "code", "text"),
    [
        (400, "invalid_request_error", "Invalid value for 'content': expected a string, got null."),
        (400, "invalid_type", "messages.1.content must be a string"),
        (415, "", "Invalid content type"),
        (400, "invalid_prompt", "Invalid prompt: input.0.pending_safety_checks: Field required"),
        (400, "unknown_parameter", "Unrecognized request argument supplied: content_filter"),
        (422, "", "body.messages.0.content: Input should be a valid list"),
        (403, "permission_denied", "You do not have access to this model."),
        (400, "", "messages: content blocks must not be empty"),
        (400, "1211", "Model 1301 has wrong parameters"),
        (400, "", "The request was blocked by the firewall"),
        (400, "", "cannot filter the content of this prompt"),
        (500, "server_error", "The server had an error while processing your request."),
    ],
)
def test_a_refusal_that_only_names_the_content_is_another_one(status: int, code: str, text: str) -> None:
    assert not is_filtered(status, code, text)


def test_refusals_of_the_key_the_account_and_the_length_come_first() -> None:
    text = "violates our usage policies"
    assert type(failure_of(Refusal(status=401, code="", message=text))) is ModelBarred
    assert type(failure_of(Refusal(status=402, code="", message=text))) is ModelQuotaExhausted
    assert type(failure_of(Refusal(status=413, code="content_filter", message=text))) is PromptTooLong
    assert isinstance(failure_of(Refusal(status=400, code="content_filter", message="")), ModelRefused)
    assert not is_filtered(429, "", text)


@pytest.mark.parametrize(
    "reason", ["content_filter", "content_filter: PROHIBITED_CONTENT", "SAFETY", "sensitive", "BLOCKLIST"]
)
def test_an_empty_reply_may_end_for_the_filters_reason(reason: str) -> None:
    assert is_filter_reason(reason)


@pytest.mark.parametrize(
    "reason", [None, "", "stop", "length", "tool_calls", "error", "insufficient_system_resource"]
)
def test_other_ends_are_no_filters(reason: str | None) -> None:
    assert not is_filter_reason(reason)


@pytest.mark.parametrize(
    ("chunk", "blocks"),
    [
        ({"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}}, True),
        ({"promptFeedback": {"safetyRatings": []}}, False),
        ({"promptFeedback": None, "choices": []}, False),
        ({"choices": []}, False),
    ],
)
def test_a_chunk_may_say_that_the_prompt_is_blocked(chunk: dict[str, Any], blocks: bool) -> None:
    assert blocks_prompt(chunk) is blocks
