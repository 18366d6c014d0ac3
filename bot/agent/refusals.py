"""Recognises the refusals of content filters in the answers of endpoints (pure)."""

import re
from collections.abc import Mapping
from typing import Any

_OTHER_STATUSES = frozenset({401, 402, 404, 408, 409, 413, 425, 429})
"""Statuses of refusals that are about the key, the account, the model, the size or the rate."""
_LEGAL_STATUS = 451  # StepFun, and guards in front of other models

_CODES = (
    *("contentfilter", "contentpolicy"),  # Azure, Moonshot, Gemini; OpenAI, OpenRouter, LiteLLM
    *("responsibleaipolicy", "datainspection"),  # Azure; Alibaba
    *("prohibitedcontent", "promptblocked"),  # Gemini and one-api in front of it
    *("moderation", "censorship", "sensitive", "unsafecontent", "cyberpolicy", "guardrail"),
)
"""Parts of error codes, in lower case and without other characters than letters."""
_CODE_WORDS = frozenset({"1301"})  # BigModel, Z.ai

_PHRASES = (
    "content management policy",  # Azure
    "responsibleaipolicyviolation",
    "contentpolicyviolation",  # LiteLLM, whose code is "400"
    "data_inspection_failed",  # a gateway in front of Alibaba
    "datainspectionfailed",
    "inappropriate content",  # Alibaba, also as a 500 of a gateway (langgenius/dify#7932)
    "content exists risk",  # DeepSeek (deepseek-ai/DeepSeek-V2#30), without a code of its own
    "considered high risk",  # Moonshot (MoonshotAI/kimi-cli#1002)
    "content filtering policy",  # Anthropic
    "blocked by content filter",
    "prohibited_content",
    "prohibited content",
    "new_sensitive",  # MiniMax, as a 422 (esengine/DeepSeek-Reasonix#6818)
    "sensitive words",  # new-api (openai/openai-cookbook#1224)
    "unsafe or sensitive content",  # Z.ai
    "unsafe content",
    "不安全或敏感",  # BigModel
    "敏感内容",
    "敏感词",
    "flagged_input",  # OpenRouter's metadata
    "safety_check_type",  # xAI, as a 403
    "content for safety reasons",  # OpenAI's `invalid_prompt` (microsoft/PyRIT#1463)
    "our safety system",
    "guardrail policy",
    "guardrail intervened",  # Bedrock
    "moderation policy",
    "blocked by moderation",
    "blocked due to safety",
    "blocked due to security",
    "blocked reason",
    "jailbreak detected",
    "contains harmful content",
    "敏感信息",
    "内容违规",
)
"""Parts of messages, in lower case."""
_VIOLATION = re.compile(
    r"violat\w+ (?:\w+ ){0,2}(?:usage|content|safety|acceptable use) (?:polic|guideline)"
    r"|(?:input|prompt|content) (?:was|is|were|has been) (?:flagged|blocked) (?:as|by|for|because)"
)
"""A sentence such as "Your prompt was flagged as potentially violating our usage policy".

The code `invalid_prompt` alone says nothing: it is also the code of malformed requests (anomalyco/opencode#49099).
"""

_FINISH_REASONS = (*_CODES, "safety", "blocklist", "spii", "recitation", "refusal")
"""Parts of finish reasons, as `_CODES`. Gemini's own words come through unchanged (HKUDS/Vibe-Trading#308)."""


def is_filtered(status: int | None, code: str, text: str) -> bool:
    """Return True if an endpoint's content filter refused the prompt, by the HTTP status (None within a stream).

    `code` is the error code and type, `text` the message with the body. A message that only names the field
    "content" is no such refusal.
    """
    if status == _LEGAL_STATUS:
        return True
    if status in _OTHER_STATUSES:
        return False
    if not _CODE_WORDS.isdisjoint(code.split()) or any(word in _letters(code) for word in _CODES):
        return True
    lower = text.lower()
    return any(phrase in lower for phrase in _PHRASES) or _VIOLATION.search(lower) is not None


def is_filter_reason(finish_reason: str | None) -> bool:
    """Return True if the finish reason of an empty reply says that a filter stopped it."""
    return any(word in _letters(finish_reason or "") for word in _FINISH_REASONS)


def blocks_prompt(chunk: Mapping[str, Any]) -> bool:
    """Return True for Gemini's own chunk about a blocked prompt. Some gateways pass it on (BerriAI/litellm#20105)."""
    feedback = chunk.get("promptFeedback")
    return isinstance(feedback, dict) and "blockReason" in feedback


def _letters(word: str) -> str:
    return re.sub(r"[^a-z]", "", word.lower())
