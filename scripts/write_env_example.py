"""Writes `.env.example` from the settings' own descriptions: `python scripts/write_env_example.py`."""

from pathlib import Path

from bot.environment import SECRETS
from bot.features.settings import AllSettings
from bot.settings import SHARED_GROUPS, Settings

HEADINGS = {
    "Telegram": "telegram_bot_token telegram_api_url webhook_url public_url webhook_secret http_host http_port",
    "Stores": "redis_url redis_replicas redis_accept_loss partitions qdrant_url qdrant_api_key data_dir"
    " erasures_dir",
    "Models and agents": "openai_api_key openai_base_url openai_model models openai_summary_model openai_vision "
    "openai_transcription_model openai_embedding_model model_context_window agents_file",
    "Access": "operator_ids allowed_chat_ids allowed_user_ids invited_only operators_read_chats",
    "Memory": "recall_tokens recall_k window_tokens",
    "Answers": "max_actions turn_deadline_s model_silence_s streaming while_busy show_sources",
    "Groups and inline mode": "group_context group_context_messages group_memory_page inline inline_memory",
    "Limits": "user_messages_per_minute chat_messages_per_minute user_tokens_per_day chat_tokens_per_day "
    "user_money_per_day chat_money_per_day money_per_month",
    "Operation": "worker_concurrency lease_s box_limit log_format log_level log_text otel_exporter_otlp_endpoint",
}
"""The settings of the core under each heading, in the order of the file. Those of the features follow."""
_HEAD = f"""\
# Copy to .env and set what you need; every setting may also come from the environment.
# A mounted secret: NAME_FILE is the path of the file that holds NAME, for {", ".join(map(str.upper, SECRETS))}."""


def example() -> str:
    """Return a description and a commented-out assignment with the default for each setting, under headings.

    Raises ValueError unless HEADINGS has each setting once and nothing else.
    """
    core = {name for group in (Settings, *SHARED_GROUPS) for name in group.model_fields}
    headings = HEADINGS | {
        "Features": " ".join(name for name in AllSettings.model_fields if name not in core)
    }
    listed = [name for names in headings.values() for name in names.split()]
    if wrong := {name for name in {*listed, *AllSettings.model_fields} if listed.count(name) != 1}:
        raise ValueError(f"HEADINGS has these settings not once: {', '.join(sorted(wrong))}")
    if unknown := {*listed} - {*AllSettings.model_fields}:
        raise ValueError(f"HEADINGS has these names of no setting: {', '.join(sorted(unknown))}")
    lines = [_HEAD]
    for heading, names in headings.items():
        lines += ["", f"## {heading}", *(line for name in names.split() for line in _setting(name))]
    return "\n".join(lines) + "\n"


def _setting(name: str) -> list[str]:
    field = AllSettings.model_fields[name]
    value = "" if field.default in (None, frozenset(), ()) else str(field.default)
    shown = value.lower() if isinstance(field.default, bool) else value
    return ["", f"# {field.description}", f"# {name.upper()}={shown}"]


if __name__ == "__main__":
    (Path(__file__).parent.parent / ".env.example").write_text(example(), "utf-8")
