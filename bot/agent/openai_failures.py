"""Failures of model endpoints: their kind, the ability that a refusal names, the wait that it asks for (pure)."""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any

from bot.agent.abilities import Ability
from bot.errors import (
    ModelBarred,
    ModelFiltered,
    ModelMissing,
    ModelQuotaExhausted,
    ModelRefused,
    ModelUnavailable,
    PromptTooLong,
    TellUser,
)

_TEMPORARY_STATUSES = frozenset({408, 409, 425, 429, 498})
_QUOTA = re.compile(
    r"insufficient[_ ](?:\w+[_ ]){0,2}(?:quota|balance|credit|funds)|额度不足|balance is (?:insufficient|too low)"
    r"|billing_hard_limit|billing_not_active"
    r"|not enough (?:credit|balance)"
    r"|exceeded your current quota|credit balance is too low|(?:out of|no) credits(?! were charged)"
    r"|depleted|quota is not enough|key limit exceeded|has been exhausted"
    r"|account (?:is )?(?:in arrears|overdue)"
    r"|arrearage|payment required|spending limit|余额不足|欠费|budget has been exceeded|recharge"
)
"""OpenAI, DeepSeek, OpenRouter, Gemini, Anthropic, Together, Alibaba, xAI, Zhipu, LiteLLM, Moonshot."""
_MISSING_CODES = ("model_not_found", "invalid_model")  # OpenAI, Mistral
_MISSING_PHRASES = ("not found", "does not exist")  # Ollama, vLLM
_MISSING = re.compile(
    r"not a valid model id|no endpoints found for|model (?:does )?not exist|invalid model name"
)
"""Sentences that name the model, also with a 400: OpenRouter, DeepSeek, SiliconFlow, LiteLLM."""
_TOO_LONG = re.compile(
    r"context[_ -]?(?:length|window|size|limit)|exceed_context_size|contextwindowexceeded"
    r"|maximum (?:prompt|context|input|sequence|model) ?(?:length|tokens)?"
    r"|max(?:imum)?[_ ]?(?:seq(?:uence)?|model)[_ ]len"
    r"|(?:prompt|input|request|message|conversation|context)s?\b[^.]{0,40}\btoo (?:long|large|big|many)"
    r"|too many (?:input |prompt )?tokens"
    r"|(?:input|prompt|request|token)[^.]{0,60}\b(?:exceed|longer than|greater than|more than)"
    r"|exceed[^.]{0,80}\b(?:token|context|length|input|n_ctx)|input length|request too large|payload too large"
    r"|reduce the (?:length|size|number)|tokens?[^.]{0,40}(?:limit|maximum)|content'?: string too long"
    r"|(?:inputs?|prompt)[^.]{0,40}(?:less|fewer|shorter) than|(?:输入|上下文|token)[^。]{0,20}(?:超过|超出|过长)"
)
"""Words for a long prompt: OpenAI, vLLM, llama.cpp, LM Studio, Ollama, xAI, Gemini, Cohere, Bedrock, Qwen, Moonshot."""
_LENGTH_STATUSES = (400, 413, 422, 500, None)
_RATE_WORDS = re.compile(r"per[ _-]?(?:minute|second|hour|day)|\b(?:tpm|rpm|tpd|rpd)\b|rate.?limit")
_SAMPLE = re.compile(
    r"tool_use_failed|failed to call a function|output_parse_failed|json_validate_failed|failed to (?:generate|parse)"
    r"|tool call validation failed|error parsing tool call|invalid tool call"
)
"""Refusals of one sample of the model, which another try may pass: Groq, vLLM, Together."""

_NEGATION = re.compile(
    r"not[ _](?:\w+ )?(?:support|available|allowed|enabled|permitted|implemented|accepted|recognized|have)|n't support"
    r"|unsupported|unavailable|unknown|unrecognized|unexpected (?:keyword|argument|field|param|key|role)"
    r"|no [^.]{0,40}supports?\b|should be|extra[_ ](?:input|field|forbidden)"
    r"|forbidden|disabled|only"
    r"|requires? |must (?:be verified|not)|no endpoints? found|cannot|can't|unable"
    r"|invalid (?:parameter|argument|param|field)"
    r"|not[ _]a[ _]valid|does not|doesn't|without|deprecated|should not|not permitted|no longer|additional propert"
    r"|(?:is|are)n't|must be (?:false|defined)|is invalid|不支持"
)
_NAMED: Mapping[Ability, re.Pattern[str]] = {
    "turns": re.compile(
        r"alternat|consecutive|in a row|successive|same role|(?:unexpected|expected|invalid) (?:\w+ ){0,4}role"
        r"|multiple (?:user|assistant)|roles?[^.]{0,60}\border\b|must (?:start|begin|end) with"
        r"|first message|last message"
        r"|after role"
    ),
    "system": re.compile(
        r"\bsystem\b['\"`]?\s*(?:role|message|prompt|instruction)|role['\"`:\s]{0,4}[^.]{0,60}\bsystem\b"
        r"|(?:developer|system) instruction|\.role\b[^.]{0,40}should be|valid role: user"
        r"|only [^.]{0,20}\buser\b[^.]{0,40}roles?|'system'|\"system\"|`system`|system ?角色"
    ),
    "tools": re.compile(
        r"\btools?\b|tool[_ -]?(?:call|use|choice|config)|\bfunctions?\b|function[_ ]?call|tool-call-parser|工具"
    ),
    "stream_options": re.compile(r"stream_options|include_usage"),
    "stream": re.compile(r"\bstream(?:ing|ed)?\b|流式"),
    "images": re.compile(
        r"image|multi-?modal|vision|content\.str|expected a string|cannot unmarshal array|expected `text`"
        r"|content\W{1,6}[^.]{0,20}must be a string"
    ),
    "json_schema": re.compile(
        r"response[_ ]format|json[_ ](?:schema|object|mode)|structured output|guided|grammar"
    ),
    "json_object": re.compile(
        r"response[_ ]format|json[_ ](?:schema|object|mode)|structured output|guided|grammar"
    ),
    "parallel_calls": re.compile(
        r"single tool.?calls?|parallel[_ ](?:tool|function)|one tool.?call|multiple tool.?calls"
    ),
    "bare_calls": re.compile(  # Mistral's tokenizers, MiMo, Bedrock, and servers that drop a message of null
        r"call id was|text is not set|no previous assistant message"
        r"|\bcontent\b.{0,60}(?:\b(?:null|none)\b|valid string|is empty|required|missing)"
    ),
}
_PLAIN = frozenset[Ability](
    ["turns", "images", "json_schema", "json_object", "stream_options", "parallel_calls", "bare_calls"]
)
"""Abilities whose name alone says it: such a refusal needs no word of denial."""
_SYSTEM_ROLE = re.compile(r"role\W{0,4}system\b|\bsystem\W{0,4}role")
_PASSING_STATUSES = frozenset([*_TEMPORARY_STATUSES, *range(500, 600)]) - {501}
_FIRM = re.compile(
    r"(?:not|n't) (?:be |currently )?(?:support|enabled|implemented)|unsupported|requires --|no [^.]{0,40}supports?\b"
    r"|not a multimodal|must alternate|cannot unmarshal array|call id was|no previous assistant message"
)
"""Denials that count also in a failure that may pass."""
_TEMPLATE = re.compile(r"jinja|chat.?template|template error|raise_exception")
_BLIND = re.compile(
    r"(?:not|n't) support (?:the )?(?:image|vision)|at most 0 image|must be a string"
    r"|only supported by certain models|multi-?modal"
    r"|image input is not supported"
    r"|support image input|expected `text`|cannot unmarshal array|image_url[^.]{0,40}not supported"
    r"|no vision|text.only"
)
"""Refusals of all pictures, not of one: Ollama, OpenRouter, OpenAI, vLLM, llama.cpp, DeepSeek."""
_BAD_SCHEMA = re.compile(
    r"invalid (?:schema|parameters|json schema) for (?:function|tool)|invalid_function_parameters"
    r"|tools?[^.]{0,60}schema"
)
"""Refusals of the schema of one tool."""

_WAITS = (
    re.compile(  # also Gemini's RetryInfo
        r"retry[_ -]?(?:after|delay)(?:_s|_sec|_seconds)?['\"\s:{]{1,6}(?:seconds['\"\s:]{1,4})?(?P<wait>\d[\dhms.]*)"
    ),
    re.compile(r"retry_?after_?ms['\"\s:]{1,5}(?P<milliseconds>\d[\d.]*)"),
    re.compile(r"resets?[ _]in(?:_seconds)?['\"\s:]{1,4}(?P<wait>\d[\dhms. ]*)"),
    re.compile(r"ratelimit-reset['\"\s:]{1,6}(?P<at>\d{10})"),  # OpenRouter, in its body
    re.compile(
        r"(?:try|retry|again|wait)[^.\d]{0,40}"
        r"(?P<wait>(?:\d+(?:\.\d+)?\s?(?:ms|millis\w*|hours?|h|minutes?|min|m|seconds?|secs?|s)(?![a-z])\s?)+)"
    ),
)
_DURATION = re.compile(r"(\d+(?:\.\d+)?)\s?(ms|mi?l|h|m|s)?")

_FIELD_NAMES = re.compile(r"""["']\w+["']\s*:|invalid_request_error|badrequesterror""")
_READ = 20_000
"""Characters of an error that are read: some servers answer with a whole page."""
_QUOTED = 300
"""Characters of an endpoint's words in logs and findings."""
_SECRET = re.compile(
    r"\b(?:sk|pk|gsk|xai|rk|hf|key)[-_][\w.*-]{6,}|\bBearer [\w.*-]{6,}|\bAIza[\w-]{10,}"
    r"|\bAKIA\w{8,}|\b(?:token|api-key|key)[=:]\s?\S{6,}|\bBasic [\w+/=]{8,}|[A-Za-z0-9_\-*.]{24,}|//[^/\s@]*:[^/\s@]*@"
)
_SAME_WORDS = 3
"""So many words in a row that are also in the prompt are a quotation of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """An endpoint's answer to a request that it did not fulfil. `status` is None within a stream."""

    status: int | None
    # Its error code and type.
    code: str = ""
    # Its message.
    message: str = ""
    # Its whole body.
    body: str = ""

    @property
    def words(self) -> str:
        """Its words in lower case, without the names of JSON fields, as far as they matter."""
        return _FIELD_NAMES.sub(" ", self.whole)

    @property
    def whole(self) -> str:
        """The same with the names of fields."""
        return f"{self.code} {self.message} {self.body}"[:_READ].lower()


def failure_of(refusal: Refusal) -> TellUser:
    """Return the error for a refused request. The endpoint's words do not get into the error."""
    status, words = refusal.status, refusal.words
    if status is None:
        in_code = (int(word) for word in refusal.code.split() if word.isdecimal() and len(word) == 3)
        status = next(in_code, None)
    is_filtered_prompt = is_filtered(status, refusal.code, f"{refusal.message} {refusal.body}")
    if status == 402 or (_QUOTA.search(words) and not is_filtered_prompt and not _is_passing(refusal)):
        return ModelQuotaExhausted()
    if status == 401:
        return ModelBarred("The model endpoint refuses the key (HTTP 401)")
    if _is_model_missing(status, refusal.code, words):
        return ModelMissing(f"The model endpoint does not have the model (HTTP {status or 'none'})")
    if is_filtered_prompt:
        return ModelFiltered(f"The model endpoint's filter refused the prompt (HTTP {status or 'none'})")
    if _SAMPLE.search(words) and status in (400, 422, None):
        return ModelUnavailable("The model's reply was refused by its endpoint")
    if status == 413 or is_about_length(refusal):
        return PromptTooLong()
    if status is None and not words.strip():
        return ModelUnavailable("The model endpoint cannot be reached, or broke off")
    if status is None or status in _TEMPORARY_STATUSES or status >= 500:
        failure = ModelUnavailable(f"The model endpoint does not answer now (HTTP {status or 200})")
        failure.may_be_length = status is None
        return failure
    failure = ModelRefused(f"The model endpoint refused the request (HTTP {status})")
    failure.may_be_length = status in (400, 422)
    return failure


def is_about_length(refusal: Refusal) -> bool:
    """Return True if the endpoint's words are about a prompt that is too long."""
    if "request too large" in refusal.words:  # also OpenAI's 429 for more tokens than a minute has
        return True
    if refusal.status not in _LENGTH_STATUSES or _RATE_WORDS.search(refusal.words):
        return False
    return bool(_TOO_LONG.search(refusal.words))


def lacking_abilities(
    refusal: Refusal, used: Collection[Ability], *, opaque_names: Collection[str] = ()
) -> frozenset[Ability]:
    """Return the abilities in `used` that a refusal names as missing; empty if it is about something else.

    An error of a chat template that names nothing is about the roles, the most frequent reason.
    """
    words = refusal.words
    is_passing = refusal.status is not None and refusal.status in _PASSING_STATUSES
    denies = bool((_FIRM if is_passing else _NEGATION).search(words))
    if _SAMPLE.search(words) or (is_passing and not denies):
        return frozenset()
    if denies and "opaque" in used and any(name.lower() in words for name in opaque_names):
        return frozenset(["opaque"])
    found: set[Ability] = {
        ability
        for ability, pattern in _NAMED.items()
        if ability in used and pattern.search(words) and (denies or ability in _PLAIN)
    }
    if not found and _TEMPLATE.search(words):
        found = {"turns"}
    return frozenset(_least(found, words)).intersection(used)


def _least(found: set[Ability], words: str) -> set[Ability]:
    """Return the abilities that a sentence is about. It names others beside them."""
    if "turns" in found:
        is_system = _SYSTEM_ROLE.search(words) and "alternat" not in words
        return {"system"} if is_system else {"turns"}
    if found & {"stream_options", "parallel_calls", "bare_calls"}:
        found -= {"tools", "stream"}
    if _BAD_SCHEMA.search(words):
        found.add("tools")
    if "images" in found and not ("tools" in found and "tool" in words.split("image")[0]):
        return {"images"}
    return found


def is_lasting(ability: Ability, refusal: Refusal) -> bool:
    """Return False if the refusal is about this one picture or schema, so that nothing is to be learned from it."""
    words = refusal.words
    if ability == "images":
        return bool(_BLIND.search(words))
    return not (ability == "tools" and _BAD_SCHEMA.search(words))


def wait_s(headers: Mapping[str, str], text: str, *, now: float) -> float | None:
    """Return the seconds that an endpoint asks to wait, in its headers or its words; None if it does not."""
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1_000
    header = headers.get("retry-after")
    wait = _number(header) if header else None
    if wait is None and header:
        wait = _date(header, now) if not _DURATION.fullmatch(header.strip()) else _duration(header)
    if wait is not None:
        return wait
    for pattern in _WAITS:
        if match := pattern.search(text.lower()):
            fields = match.groupdict()
            if "at" in fields:
                return max(0.0, float(fields["at"]) - now)
            return _duration(fields.get("wait") or f"{fields['milliseconds']}ms")
    return None


def quote_endpoint(text: str, prompt: Iterable[str]) -> str:
    """Return the endpoint's words on one line, cut, without secrets and without quotations of the prompt."""
    words = _SECRET.sub("***", " ".join(text.split())[: 4 * _QUOTED]).split()
    known = {each for said in prompt for each in _runs(said.lower().split())}
    hidden: set[int] = set()
    for at, run in enumerate(_runs([word.lower().strip("'\"`.,:;") for word in words])):
        if run in known:
            hidden |= set(range(at, at + _SAME_WORDS))
    shown = " ".join("…" if at in hidden else word for at, word in enumerate(words))
    shown = re.sub(r"…(?: …)+", "…", shown)
    return shown if len(shown) <= _QUOTED else shown[:_QUOTED] + "…"


def _runs(words: list[str]) -> list[tuple[str, ...]]:
    return [tuple(words[at : at + _SAME_WORDS]) for at in range(len(words) - _SAME_WORDS + 1)]


def _is_passing(refusal: Refusal) -> bool:
    """Return True if a limit of quota passes soon: Gemini says "quota" for its limit a minute too."""
    return refusal.status == 429 and any(pattern.search(refusal.whole) for pattern in _WAITS)


def _is_model_missing(status: int | None, code: str, words: str) -> bool:
    """Return True if the endpoint does not have the model.

    A 404 alone may be about one prompt: OpenRouter sends it if no route of a model takes pictures or tools.
    """
    if any(word in code for word in _MISSING_CODES):
        return True
    if status in (400, 404, None) and _MISSING.search(words):
        return True
    return status == 404 and "model" in words and any(phrase in words for phrase in _MISSING_PHRASES)


def _number(text: str | None) -> float | None:
    try:
        return max(0.0, float(text)) if text else None
    except ValueError:
        return None


def _date(text: str, now: float) -> float | None:
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - now)
    except (ValueError, OverflowError):
        return None


def _duration(text: str) -> float:
    """Return the seconds in "3.1s", "1m2s", "500 ms" or "20"."""
    factors = {"h": 3_600.0, "m": 60.0, "s": 1.0, "ms": 0.001, "": 1.0}
    return sum(
        float(number) * factors.get((unit or "").strip(), 0.001) for number, unit in _DURATION.findall(text)
    )


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

_FILTERED = re.compile(
    r"content (?:management|filtering) policy|contentpolicyviolation|responsibleaipolicyviolation"
    r"|data_?inspection_?failed|(?:inappropriate|prohibited|unsafe|contains harmful)[_ ]content|content exists risk"
    r"|considered high risk|blocked (?:by content filter|by moderation|due to safety|due to security|reason)"
    r"|new_sensitive|sensitive words|unsafe or sensitive content|flagged_input|safety_check_type"
    r"|content for safety reasons|our safety system|guardrail (?:policy|intervened)|moderation policy"
    r"|jailbreak detected|不安全或敏感|敏感(?:内容|词|信息)|内容违规"
    r"|violat\w+ (?:\w+ ){0,2}(?:usage|content|safety|acceptable use) (?:polic|guideline)"
    r"|(?:input|prompt|content) (?:was|is|were|has been) (?:flagged|blocked) (?:as|by|for|because)"
)
"""Words about a filter, in lower case: Azure, LiteLLM, Alibaba (also as a 500, langgenius/dify#7932), DeepSeek
(deepseek-ai/DeepSeek-V2#30), Moonshot (MoonshotAI/kimi-cli#1002), Anthropic, MiniMax (esengine/DeepSeek-Reasonix#6818),
new-api (openai/openai-cookbook#1224), Z.ai, BigModel, OpenRouter, xAI, OpenAI (microsoft/PyRIT#1463), Bedrock.

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
    return _FILTERED.search(text.lower()) is not None


def is_filter_reason(finish_reason: str | None) -> bool:
    """Return True if the finish reason of an empty reply says that a filter stopped it."""
    return any(word in _letters(finish_reason or "") for word in _FINISH_REASONS)


def blocks_prompt(chunk: Mapping[str, Any]) -> bool:
    """Return True for Gemini's own chunk about a blocked prompt. Some gateways pass it on (BerriAI/litellm#20105)."""
    feedback = chunk.get("promptFeedback")
    return isinstance(feedback, dict) and "blockReason" in feedback


def _letters(word: str) -> str:
    return re.sub(r"[^a-z]", "", word.lower())
