"""Rows of refusals that pass after a while, and of empty accounts, where no wait helps."""

from typing import Any

from tests.odd.row import NO_QUOTA, UNAVAILABLE, Row
from tests.odd.wire import DONE, as_json, chunk, error, event, raw

WAIT_S = 1.2
"""Longer than our own first wait, which is at most a second."""


def once(name: str, body: object, *, source: str = "", status: int = 400) -> Row:
    """Return a row with a refusal that one more request with the same body cures."""
    return Row(name=f"once: {name}", source=source, replies=(as_json(body, status=status),), requests=(2,))


def waits(
    name: str, body: object, *, source: str = "", status: int = 429, waits_s: float = WAIT_S, **headers: str
) -> Row:
    """Return a row with a refusal that tells the wait."""
    reply = as_json(body, status=status, **headers)
    return Row(name=f"waits: {name}", source=source, replies=(reply,), requests=(2,), waits_s=waits_s)


def too_late(name: str, body: object, **headers: str) -> Row:
    """Return a row with a wait that is too long for a person."""
    reply = as_json(body, status=429, **headers)
    return Row(name=f"too late: {name}", replies=(reply,), reads=(UNAVAILABLE,), requests=(1,))


def broke(name: str, status: int, body: object, *, source: str = "") -> Row:
    """Return a row of an empty account: asked once, and not for the next question, until the breaker probes."""
    return Row(
        name=f"broke: {name}",
        source=source,
        replies=(as_json(body, status=status),),
        asks=("hello", "again"),
        reads=(NO_QUOTA, NO_QUOTA),
        requests=(1, 0),
    )


def _google(message: str, delay: str) -> list[dict[str, Any]]:
    details = [
        {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [{"quotaValue": "15"}]},
        {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay},
    ]
    return [{"error": {"code": 429, "message": message, "status": "RESOURCE_EXHAUSTED", "details": details}}]


LIMIT = "Rate limit reached for requests."
RESETS = error(
    "Rate limit exceeded: free-models-per-day.",
    metadata={"headers": {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "4102444800000"}},
)
"""dirge-code/dirge#719. The time is in the year 2100."""
GOOGLES = "You exceeded your current quota, please check your plan and billing details."
GROQS = (
    "Rate limit reached for model `gemma2-9b-it` on tokens per minute (TPM): "
    "Limit 15000, Used 11972, Requested 4351."
)

ROWS = (
    once(
        "Groq's tool_use_failed",
        error(
            "Failed to call a function. Please adjust your prompt. See 'failed_generation' for more details.",
            code="tool_use_failed",
            failed_generation="<function=add{}",
        ),
        source="pydantic/pydantic-ai#2774",
    ),
    once(
        "Groq's parser",
        error(
            "Tool call validation failed: attempted to call tool "
            "'brave_search' which was not in request.tools",
            code="tool_use_failed",
        ),
        source="agno-agi/agno#4090",
    ),
    once(
        "Groq's JSON",
        error("Failed to generate JSON. Please adjust your prompt.", code="json_validate_failed"),
    ),
    once(
        "Groq's output",
        error(
            "Parsing failed. The model generated output that could not be parsed.", code="output_parse_failed"
        ),
    ),
    once(
        "tool_use_failed in a stream",
        error("Failed to call a function.", code="tool_use_failed", status_code=400),
        status=200,
    ),
    once(
        "Anthropic's overload",
        {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}},
        status=529,
    ),
    once("Cloudflare", "error code: 520", status=520),
    once("a loading model", error("Loading model", code=503, type="unavailable_error"), status=503),
    once(
        "OpenRouter's upstream",
        error("Provider returned error", code=502, metadata={"raw": "upstream"}),
        status=502,
    ),
    once(
        "498", {"error": {"message": "Flex tier capacity exceeded", "code": "capacity_exceeded"}}, status=498
    ),
    once(
        "DashScope's throttle",
        {"code": "Throttling.RateQuota", "message": "Requests rate limit exceeded, please try again later."},
        status=429,
    ),
    Row(
        name="once: tool_use_failed within the stream",
        replies=(
            raw(
                chunk(role="assistant", content=""),
                event(error("Failed to call a function.", code="tool_use_failed")),
                DONE,
            ),
        ),
        requests=(2,),
    ),
    waits(
        "Gemini",
        _google("Resource has been exhausted (e.g. check quota).", "1.2s"),
        source="AtomicBot-ai/atomic-agent#106",
    ),
    waits("Gemini's quota of a minute", _google(GOOGLES, "1.2s"), source="dcdpr/jp#1061"),
    waits("Gemini without a list", _google(GOOGLES, "1.200000s")[0]),
    waits("Gemini's words", error(f"{GOOGLES} Please retry in 1.203418s.")),
    waits(
        "Groq",
        error(
            f"{GROQS} Please try again in 1.2s. Visit https://console.groq.com/docs/rate-limits",
            code="rate_limit_exceeded",
        ),
        source="Aider-AI/aider#3265",
    ),
    waits("OpenAI's milliseconds", error(f"{LIMIT} Please try again in 1200ms.", code="rate_limit_exceeded")),
    waits(
        "Azure",
        error("Requests have exceeded the token rate limit. Please retry after 2 seconds."),
        source="microsoft/action-python#12",
        waits_s=2.0,
    ),
    waits(
        "a header of milliseconds", error(LIMIT), retry_after_ms="1200", source="ayunis-core/ayunis-core#1610"
    ),
    waits("a header with a unit", error(LIMIT), retry_after="2s", waits_s=2.0),
    waits("a fraction in the header", error(LIMIT), retry_after="1.2"),
    waits("a field of the body", {"error": {"message": LIMIT, "retry_after": 1.2}}),
    waits("503", error("The engine is overloaded. Please try again in 1.2 seconds."), status=503),
    too_late("Groq's day", error(f"{GROQS} Please try again in 7m12.48s.", code="rate_limit_exceeded")),
    too_late("OpenAI's hours", error(f"{LIMIT} Please try again in 2h3m.", code="rate_limit_exceeded")),
    too_late("Gemini's day", _google(GOOGLES, "41283s")),
    too_late("OpenRouter's day", RESETS),
    too_late("Codex", error("The usage limit has been reached", resets_in_seconds=756)),
    too_late("milliseconds", error(LIMIT), retry_after_ms="3600000"),
    broke(
        "DeepSeek",
        402,
        error("Insufficient Balance", code="invalid_request_error"),
        source="continuedev/continue#9853",
    ),
    broke(
        "OpenRouter",
        402,
        error(
            "This request requires more credits, or fewer max_tokens. You requested up "
            "to 4096 tokens, but can only afford 12.",
            code=402,
        ),
    ),
    broke(
        "new-api",
        403,
        error("用户额度不足, 剩余额度: -0.000002", code="insufficient_user_quota", type="new_api_error"),
        source="QuantumNous/new-api#6929",
    ),
    broke(
        "SiliconFlow",
        403,
        {"code": 30001, "message": "Sorry, your account balance is insufficient", "data": None},
    ),
    broke(
        "xAI",
        403,
        {
            "code": "The caller does not have permission",
            "error": "Your team has either used all available credits or reached its monthly spending limit.",
        },
    ),
    broke(
        "OpenCode",
        401,
        error("Insufficient balance. Manage your billing here: …"),
        source="can1357/oh-my-pi#3102",
    ),
    broke(
        "Moonshot",
        429,
        error(
            "Your account org-1 is suspended due to insufficient balance, please recharge your "
            "account or check your plan and billing details",
            type="exceeded_current_quota_error",
        ),
        source="continuedev/continue#11443",
    ),
    broke("Zhipu", 429, {"error": {"code": "1113", "message": "余额不足或无可用资源包,请充值。"}}),
    broke(
        "OpenAI",
        429,
        error(GOOGLES, code="insufficient_quota", type="insufficient_quota"),
        source="langchain-ai/langchainjs#1929",
    ),
    broke("OpenAI without a code", 429, error(GOOGLES, type="insufficient_quota")),
    broke(
        "DashScope",
        400,
        error(
            "Access denied, please make sure your account is in good standing.",
            code="Arrearage",
            type="Arrearage",
        ),
    ),
    broke(
        "Anthropic",
        400,
        error(
            "Your credit balance is too low to access the Anthropic API. Please go to Plans "
            "& Billing to upgrade or purchase credits."
        ),
    ),
    broke(
        "Together",
        402,
        error("Credit limit exceeded, please navigate to billing to add credits.", type="credit_limit"),
    ),
    broke(
        "Fireworks",
        412,
        {
            "error": {
                "message": "Account suspended, possibly due to reaching the monthly spending "
                "limit or failure to pay past invoices."
            }
        },
    ),
)
