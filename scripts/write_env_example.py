"""Writes `.env.example` from the settings' own descriptions: `python scripts/write_env_example.py`."""

from pathlib import Path

from bot.settings import Settings

_HEAD = "# Copy to .env and set what you need; every setting may also come from the environment."


def example() -> str:
    """Return a description and a commented-out assignment with the default for each setting."""
    lines = [_HEAD]
    for name, field in Settings.model_fields.items():
        value = "" if field.default in (None, frozenset(), ()) else str(field.default)
        lines += [
            "",
            f"# {field.description}",
            f"# {name.upper()}={value.lower() if isinstance(field.default, bool) else value}",
        ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    (Path(__file__).parent.parent / ".env.example").write_text(example(), "utf-8")
