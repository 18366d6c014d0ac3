"""Reads what people put into the environment, `.env` and files with secrets, as they paste it."""

import os
import re
import unicodedata
from collections.abc import Callable, Collection, Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from dotenv import dotenv_values

from memory.folders import denial_advice
from memory.proxy import parse_proxy

ENV_FILE = ".env"
ENCODING = "utf-8-sig"
"""UTF-8, with the mark that editors of Windows put before it."""

_QUOTES = "\"'`"
_INVISIBLE = ("Cc", "Cf", "Zl", "Zp", "Zs")
_AROUND = (*_INVISIBLE, "Pi", "Pf")
"""Unicode categories. The last two are quotation marks of editors and web pages, except the low ones."""
_LOW_QUOTES = "\u201e\u201a"
_BEFORE_KEY = re.compile(
    r"""^(?:(?:export\s+)?\w*(?:key|token)\s*[=:]|(?:x-)?api-key\s*:|authorization\s*[:=])?
    \s*["']?(?:bearer[:\s]\s*)?(?=.)""",
    re.IGNORECASE | re.VERBOSE,
)
_COMMENT = re.compile(r"(?:^|\s+)#\s.*", re.DOTALL)
_LARGEST_SECRET = 16_384
_PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")

_WAYS_TO_IDS = {
    "operator_ids": "`mnemogram init` finds your number by a code that you send to the bot",
    "allowed_user_ids": "`mnemogram invite` needs no number",
    "allowed_chat_ids": "Without this setting `mnemogram chats` lists them",
}

_RESEMBLANCE, _CLOSE_RESEMBLANCE = 0.85, 0.9
"""Likeness of names from which one is taken for the other: in `.env`, and where other programs' names are."""
_OTHER_NAMES = {"OPENAI_API_BASE": "OPENAI_BASE_URL", "OPENAI_API_HOST": "OPENAI_BASE_URL"}
"""Names that other programs have for our settings."""


def read_environment() -> dict[str, str]:
    """Return the variables of the environment and of `.env`, for values that AGENTS_FILE names."""
    return {**_read_env_file(), **os.environ}


def env_file_problem(error: OSError | UnicodeDecodeError) -> str:
    """Return one line about an `.env` that cannot be read."""
    advice = denial_advice(error, Path(ENV_FILE)) if isinstance(error, OSError) else ""
    return f"{ENV_FILE}: cannot be read ({type(error).__name__}){advice}"


def read_secret_files(
    names: Collection[str], *, has_env_file: bool = True
) -> tuple[dict[str, Any], list[str]]:
    """Return the secrets in the files that NAME_FILE names, by the settings' names, and a line for each problem."""
    given = read_environment() if has_env_file else os.environ
    present = {name.upper(): value for name, value in given.items()}
    secrets: dict[str, Any] = {}
    problems: list[str] = []
    for name in names:
        path = trim(present.get(f"{name.upper()}_FILE", ""))
        if path and trim(present.get(name.upper(), "")):
            problems.append(f"{name.upper()}: is set, and {name.upper()}_FILE too. Remove one of them")
        elif path:
            try:
                secrets[name] = _read_secret(expand_home(Path(path)))
            except (OSError, ValueError) as error:
                says = str(error) if type(error) is ValueError else f"cannot be read ({type(error).__name__})"
                problems.append(f"{name.upper()}_FILE: the file {says}")
    return secrets, problems


def trim(text: str) -> str:
    """Return the text without blanks, invisible characters and quotation marks around it."""
    before = None
    while text != before:
        before = text
        text = text.strip(_LOW_QUOTES + "".join(each for each in text if _is_in(each, _AROUND)))
        if len(text) > 1 and text[0] == text[-1] and text[0] in _QUOTES:
            text = text[1:-1]
    return text


def trim_value(name: str, text: str) -> str:
    """Return the trimmed value of a setting, also of one that is pasted with its name: `export NAME=value`."""
    line = re.fullmatch(rf"(?:export\s+)?{name}\s*[=:]\s*(.+)", trim(text), re.IGNORECASE | re.DOTALL)
    value = trim(line[1] if line else text)
    # Docker does not take a comment off (mtrnix/metronix-memory#458).
    return value if name.lower() in SECRET_FORMS else trim(_COMMENT.sub("", value))


def expand_home(path: Path) -> Path:
    """Return a path that may begin with ~, which neither `.env` nor Docker expands (gi-dellav/zerostack#187)."""
    return Path.home().joinpath(*path.parts[1:]) if path.parts[:1] == ("~",) else path


def check_visible(text: str) -> None:
    """Raise ValueError for an invisible character, except a blank. The error names nothing else of the text."""
    for number, each in enumerate(text, 1):
        if _is_in(each, _INVISIBLE) and each != " ":
            name = "a line break" if each in "\r\n" else unicodedata.name(each, "a control character").lower()
            raise ValueError(
                f"has an invisible character inside at place {number}: {name} (U+{ord(each):04X}). Copy it again"
            )


def split_ids(name: str, text: str) -> list[str]:
    """Return the numbers of people or chats in a setting. Raises ValueError, which says how to find a number."""
    ids = re.split(r"[,;\s\"']+", text.strip(" ,;\t[]\"'"))  # also a list of JSON
    if wrong := [each for each in ids if not re.fullmatch(r"[+-]?\d+", each)]:
        raise ValueError(
            f"{wrong[0] or text} is not a number, and names can change hands. {_WAYS_TO_IDS[name]}"
        )
    return ids


def _mend_secret(text: str) -> str:
    """Return a secret that an HTTP header can carry. Raises ValueError for any other."""
    check_visible(text)
    if " " in text:
        raise ValueError("has a blank inside: write the secret alone")
    if not text.isascii():
        raise ValueError("has a character inside that no HTTP header can carry. Copy it again")
    return text


def _mend_key(text: str) -> str:
    """Return a key without what a request or a settings file has before it."""
    return _mend_secret(trim(_BEFORE_KEY.sub("", text)).strip(_QUOTES))


def _mend_token(text: str) -> str:
    if not re.fullmatch(r"\d{1,20}:[A-Za-z0-9_-]{3,}", _mend_secret(text)):
        raise ValueError("must look like 123456:ABC-DEF, as @BotFather gives it")
    return text


def _mend_webhook_secret(text: str) -> str:
    if not re.fullmatch("[A-Za-z0-9_-]{1,256}", _mend_secret(text)):
        raise ValueError("must be 1 to 256 of A-Z, a-z, 0-9, _ and -")
    return text


SECRET_FORMS: Mapping[str, Callable[[str], str]] = {
    "telegram_bot_token": _mend_token,
    "webhook_secret": _mend_webhook_secret,
    "qdrant_api_key": _mend_key,
    "openai_api_key": _mend_key,
}
"""Functions that mend a secret. They raise ValueError, which quotes nothing of it."""
SECRETS = (*SECRET_FORMS, "redis_url")
"""Settings that NAME_FILE may hold, such as OPENAI_API_KEY_FILE: the path of a file, as containers mount secrets."""


def proxy_problems() -> Iterator[str]:
    """Yield a line for each variable of the environment that names a useless proxy."""
    for name, value in os.environ.items():
        if name.upper() in _PROXIES and value.strip():
            try:
                parse_proxy(value, name)
            except ValueError as error:
                yield str(error)


def find_misspelt(names: Collection[str]) -> dict[str, str]:
    """Return names that are no settings, each with the setting that it resembles.

    In `.env` any name counts. The environment has other programs' names too: a name counts there if it has our first
    word and is nearly ours.
    """
    firsts = {name.partition("_")[0] for name in names if "_" in name}
    shared = [name for name in os.environ if "_" in name and name.upper().partition("_")[0] in firsts]
    ours = [name for name in _read_env_file() if not name.upper().startswith("OTEL_")]
    found = {name: _resembled(name.upper(), names, _CLOSE_RESEMBLANCE) for name in shared}
    found |= {name: _resembled_in_words(name.upper(), names) for name in ours}
    return {name: meant for name, meant in found.items() if meant and name.upper() not in names}


def _read_env_file() -> Mapping[str, str]:
    return {name: value or "" for name, value in dotenv_values(ENV_FILE, encoding=ENCODING).items()}


def _read_secret(path: Path) -> str:
    """Return the text of a file. A mounted secret often ends with a line break. Raises OSError, ValueError."""
    with path.open("rb") as file:
        content = file.read(_LARGEST_SECRET + 1)
    if len(content) > _LARGEST_SECRET:
        raise ValueError(f"is larger than {_LARGEST_SECRET:,} bytes")
    if not (secret := trim(content.decode(ENCODING))):
        raise ValueError("is empty")
    return secret


def _is_in(character: str, categories: tuple[str, ...]) -> bool:
    return unicodedata.category(character) in categories


def _resembled(name: str, names: Collection[str], likeness: float) -> str | None:
    return next(iter(get_close_matches(name, names, n=1, cutoff=likeness)), None)


def _resembled_in_words(name: str, names: Collection[str]) -> str | None:
    """Return the setting of a name that is nearly the same, or that has left out or added a word."""
    words, parts = set(name.split("_")), {each: each.split("_") for each in names}
    shorter = [each for each, theirs in parts.items() if len(words) > 1 and words < set(theirs)]
    longer = [
        each
        for each, theirs in parts.items()
        if len(theirs) > 1 and words > set(theirs) and name.startswith(theirs[0])
    ]
    near = _OTHER_NAMES.get(name) or _resembled(name, names, _RESEMBLANCE)
    return near or min([*shorter, *longer], key=len, default=None)
