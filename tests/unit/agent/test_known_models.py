"""The context windows of known and unknown models."""

import pytest

from bot.agent.known_models import DEFAULT_CONTEXT_WINDOW, context_window


@pytest.mark.parametrize(
    ("model", "tokens"),
    [
        ("gpt-4", 8_192),
        ("gpt-4-0613", 8_192),
        ("gpt-4-turbo-2024-04-09", 128_000),
        ("gpt-4o-mini-2024-07-18", 128_000),
        ("gpt-4.1-nano", 1_047_576),
        ("gpt-5-mini", 272_000),
        ("gpt-5.1-chat-latest", 128_000),
        ("gpt-5.4-2026-03-05", 922_000),
        ("gpt-5.4-mini-2026-03-17", 272_000),
        ("o1-mini", 128_000),
        ("o3-2025-04-16", 200_000),
        ("gpt-oss:20b", 131_072),
        ("llama3:8b", 8_192),
        ("llama3.1:8b", 131_072),
        ("phi-3.5-mini-instruct", 128_000),
        ("deepseek-v4-flash", 1_000_000),
    ],
)
def test_the_longest_known_prefix_decides(model: str, tokens: int) -> None:
    assert context_window(model) == tokens


@pytest.mark.parametrize(
    ("model", "tokens"),
    [
        ("openai/gpt-4o-mini", 128_000),
        ("ft:gpt-4.1-mini-2025-04-14:my-org::abc", 1_047_576),
        ("GPT-4O", 128_000),
        ("meta-llama/Meta-Llama-3.1-8B-Instruct", 131_072),
    ],
)
def test_router_prefixes_and_fine_tuned_models_count_as_the_model_itself(model: str, tokens: int) -> None:
    assert context_window(model) == tokens


@pytest.mark.parametrize("model", ["", "my-own-model", "not-gpt-4o", "/"])
def test_an_unknown_model_has_the_conservative_default(model: str) -> None:
    assert context_window(model) == DEFAULT_CONTEXT_WINDOW == 8_192


def test_an_override_wins_over_the_table() -> None:
    assert context_window("gpt-4o", 4_096) == 4_096


@pytest.mark.parametrize("override", [0, -1])
def test_an_override_below_one_is_refused(override: int) -> None:
    with pytest.raises(ValueError, match="at least one token"):
        context_window("gpt-4o", override)
