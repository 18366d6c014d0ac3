"""The models that people may choose, with their prices and windows, as MODELS names them (pure)."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

LEAST_WINDOW = 1_024
"""The smallest window of a model in tokens."""
MODELS_AT_MOST = 30
"""Models that may be chosen: each has a button in one message."""
_LONGEST_NAME = 200
"""Characters of a name, as an exported file may have them."""

_FORM = "name[:input_price:output_price[:window]]"
_PRICE = r"(\d+(?:\.\d*)?|\.\d+)"
_ENTRY = re.compile(rf"([^\s:](?:\S*?[^\s:])??)(?::{_PRICE}:{_PRICE}(?::(\d+))?)?")
_NUMBER = re.compile(r"[-+]?[\d.]+")
_IMAGE_ENTRY = re.compile(rf"([^\s:](?:\S*?[^\s:])??)(?::{_PRICE})?")


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelChoice:
    """A model with the prices of a million tokens. They are None if they are not known."""

    name: str
    input_price: float | None = None
    output_price: float | None = None
    # Tokens. None: as the table of known models says.
    window: int | None = None
    entry: str = field(default="", compare=False)

    def __str__(self) -> str:
        """Return the entry of MODELS."""
        return self.entry

    def cost_of(self, prompt_tokens: int, completion_tokens: int) -> float:
        """Return the cost in millionths of the prices' unit; 0 without prices."""
        return prompt_tokens * (self.input_price or 0) + completion_tokens * (self.output_price or 0)


def parse_models(text: str) -> tuple[ModelChoice, ...]:
    """Return the models of a comma-separated list. Raises ValueError, which names each wrong entry.

    A colon separates only before numbers, so `llama3:8b` and `llama3:8b:0:0` name the same model. A name with a
    number after a colon, such as `phi:3`, needs all three numbers after it.
    """
    problems: list[str] = []
    choices: list[ModelChoice] = []
    for entry in filter(None, (each.strip() for each in text.split(","))):
        try:
            choices.append(_parse_entry(entry))
        except ValueError as error:
            problems.append(f"{entry!r}: {error}")
    counts = Counter(choice.name for choice in choices)
    problems += [f"{name!r} is named {count} times" for name, count in counts.items() if count > 1]
    if len(choices) > MODELS_AT_MOST:
        problems.append(f"at most {MODELS_AT_MOST} models may be named, and these are {len(choices)}")
    if problems:
        raise ValueError("; ".join(problems))
    return tuple(choices)


def parse_image_model(entry: str) -> ModelChoice:
    """Return the model of `name[:price_of_a_picture]`. Raises ValueError.

    A picture with a price of its own counts as one token of output, so its price is that of a million pictures.
    """
    parts = _IMAGE_ENTRY.fullmatch(entry.strip())
    if parts is None or len(parts[1]) > _LONGEST_NAME or _NUMBER.fullmatch(parts[1].split(":")[-1]):
        raise ValueError("needs the form name[:price_of_a_picture]")
    price = None if parts[2] is None else float(parts[2]) * 1_000_000
    return ModelChoice(name=parts[1], output_price=price, entry=entry)


def chosen_model(choice: str, models: Sequence[str]) -> str:
    """Return the chosen model; "" for the default, the first of `models`, and for one that is not among them."""
    return choice if choice in models[1:] else ""


def _parse_entry(entry: str) -> ModelChoice:
    parts = _ENTRY.fullmatch(re.sub(r"\s*:\s*", ":", entry))
    name, input_price, output_price, window = parts.groups() if parts else ("", None, None, None)
    if not name or (window is None and any(map(_NUMBER.fullmatch, name.split(":")[1:]))):
        raise ValueError(f"needs the form {_FORM}")
    if len(name) > _LONGEST_NAME:
        raise ValueError(f"a name has at most {_LONGEST_NAME} characters")
    if window is not None and int(window) < LEAST_WINDOW:
        raise ValueError(f"a window has at least {LEAST_WINDOW:,} tokens")
    return ModelChoice(
        name=name,
        input_price=None if input_price is None else float(input_price),
        output_price=None if output_price is None else float(output_price),
        window=None if window is None else int(window),
        entry=entry,
    )
