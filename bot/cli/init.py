"""`init`: asks for what a bot needs, checks the answers, and writes them into `.env`, which is replaced at once."""

import os
import re
import sys
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bot.cli.checks import Finding
from bot.cli.doctor import Check, doctor, run_bounded
from bot.cli.failures import FAILED, CommandFailed, print_error, report
from bot.cli.webhook import SIMULATOR_PORT
from bot.errors import SettingsInvalid

if TYPE_CHECKING:
    from bot.settings import Settings

TOKEN, BASE_URL, KEY, MODEL = "TELEGRAM_BOT_TOKEN", "OPENAI_BASE_URL", "OPENAI_API_KEY", "OPENAI_MODEL"
OPERATORS, ADDRESS, EMBEDDER = "OPERATOR_IDS", "WEBHOOK_URL", "OPENAI_EMBEDDING_MODEL"
NAMES = (TOKEN, BASE_URL, KEY, MODEL, OPERATORS, ADDRESS)
NONE = "-"
"""The answer that removes a present value."""

_ENV = Path(".env")
_HEAD = "# Written by `mnemogram init`. The file .env.example explains every setting.\n"
_WRITABLE = re.compile(r"""[^\s"'`$\\#\x00-\x1f\x7f]*""")
"""Values that mean the same in `.env` for every program that reads it."""
_ASSIGNMENT = re.compile(
    r"""(?P<head>\s*(?:export[^\S\r\n]+)?(?:'[^']+'|[^=\#\s]+))[^\S\r\n]*
    (?:=(?:[^\S\r\n]*(?:'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*")(?=\s|\#|\Z)|[^\r\n]*?))?
    (?P<tail>(?:(?:[^\S\r\n]+|(?<=['"]))\#[^\r\n]*)?[^\S\r\n]*(?:\r\n|\n|\r)?)""",
    re.VERBOSE | re.DOTALL,
)
"""One assignment as python-dotenv reads it. `tail` has its comment and the end of its line."""


def init(
    *,
    token_file: Annotated[
        Path | None, typer.Option(help=f"File with the bot's token. Or set {TOKEN}.")
    ] = None,
    key_file: Annotated[Path | None, typer.Option(help=f"File with the model's key. Or set {KEY}.")] = None,
    base_url: Annotated[
        str | None, typer.Option(help="Another OpenAI-compatible server, with its /v1.")
    ] = None,
    model: Annotated[str | None, typer.Option(help="The chat model.")] = None,
    operators: Annotated[str | None, typer.Option(help="Telegram user ids, comma-separated.")] = None,
    public_url: Annotated[
        str | None, typer.Option(help="Our https address. Without one the bot polls.")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Replace present values without a question.")] = False,
) -> None:
    """Ask for token, model, operators and address; check them, write .env, run doctor.

    Options answer in advance. Without a terminal they and the environment give all answers, and nothing is asked.
    Secrets come from files or the environment, because other users can see a program's arguments.
    """
    try:
        options = {TOKEN: _read("--token-file", token_file), KEY: _read("--key-file", key_file)}
        options |= {BASE_URL: base_url, MODEL: model, OPERATORS: operators, ADDRESS: public_url}
        draft = _open_draft({name: value for name, value in options.items() if value is not None})
        if sys.stdin.isatty():
            _ask_all(draft)
        else:
            _take_all(draft)
        _write(draft, is_confirmed=yes)
    except (KeyboardInterrupt, EOFError, typer.Abort):
        print_error("\nNothing was changed.")
        raise typer.Exit(FAILED) from None
    except (SettingsInvalid, CommandFailed) as error:
        raise typer.Exit(report(error)) from None
    _say("\n.env is written. `mnemogram run` (or `make run`) starts the bot. The doctor's findings:")
    doctor()


@dataclass(slots=True, kw_only=True)
class _Draft:
    """The answers so far, by the names of their settings."""

    given: dict[str, str]
    """Answers of the options, each for one try."""
    present: dict[str, str]
    """Values that are set already. The environment has priority over `.env`."""
    in_file: dict[str, str]
    answers: dict[str, str] = field(default_factory=dict[str, str])

    def settings(self) -> "Settings":
        """Return the settings with the answers, without present values of questions that are still open."""
        return _load(self.answers)

    def accept(self, name: str, value: str) -> str:
        """Keep an answer, and return an empty text; or return the reason why it is wrong."""
        value = re.sub(r"[,\s]+", ",", value.strip()) if name == OPERATORS else value.strip()
        if value != self.in_file.get(name) and not _WRITABLE.fullmatch(value):
            return f"{name}: has a space, a quote or one of ` $ \\ #, which .env cannot hold safely"
        try:
            _load({**self.answers, name: value})
        except SettingsInvalid as error:
            return "; ".join(error.problems)
        self.answers[name] = value
        return ""

    def changes(self) -> dict[str, str]:
        """Return the answers that differ from `.env`."""
        if self.answers[BASE_URL] and EMBEDDER not in self.present:
            self.answers[EMBEDDER] = ""  # OpenAI's default is not to be expected elsewhere
        return {
            name: value
            for name, value in self.answers.items()
            if self.in_file.get(name, None if name == EMBEDDER else "") != value
        }


def _load(answers: dict[str, str]) -> "Settings":
    from bot.features.settings import load_settings

    return load_settings(**{name.lower(): answers.get(name, "") for name in NAMES})


def _open_draft(given: dict[str, str]) -> _Draft:
    """Read what is set already. Raises SettingsInvalid if other settings are wrong or `.env` cannot be written."""
    from dotenv import dotenv_values

    from bot.environment import read_environment

    _load({})
    if (_ENV.exists() and not _ENV.is_file()) or not os.access(_ENV.resolve().parent, os.W_OK):
        raise SettingsInvalid([".env: cannot be written here"])
    in_file = {name.upper(): value or "" for name, value in dotenv_values(_ENV).items()}
    present = {name.upper(): value for name, value in read_environment().items()}
    return _Draft(given=given, present=present, in_file=in_file)


def _take_all(draft: _Draft) -> None:
    """Take every answer from the options and what is set. Raises SettingsInvalid, CommandFailed."""
    values = {name: draft.given.get(name, draft.present.get(name, "")) for name in NAMES}
    problems = [problem for name, value in values.items() if (problem := draft.accept(name, value))]
    if not values[TOKEN]:
        problems.append(f"{TOKEN}: is not set; name a file with --token-file, or set it in the environment")
    if not values[KEY] and not values[BASE_URL]:
        problems.append(f"{KEY}: is not set; use --key-file, the environment, or --base-url")
    if problems:
        raise SettingsInvalid(problems)
    findings = [_examine_token(draft.settings()), _examine_model(draft.settings())]
    failures = [_words(each) for each in findings if each.level == "fail"]
    if failures:
        raise CommandFailed("\n".join(failures))


def _ask_all(draft: _Draft) -> None:
    _say("Press Ctrl-C to stop at any time: nothing is changed before the last question.\n")
    _ask_token(draft)
    _ask_model(draft)
    _ask_operators(draft)
    _ask(draft, ADDRESS, "Public https address of this bot, for a webhook; without one it polls")


def _ask_token(draft: _Draft) -> None:
    while True:
        _ask(draft, TOKEN, "Token of the bot, from @BotFather", is_hidden=True)
        if not draft.answers[TOKEN]:
            _say("A bot needs a token: send /newbot to @BotFather in Telegram.")
            continue
        finding = _examine_token(draft.settings())
        _say(_words(finding))
        if finding.level != "fail":
            return


def _ask_model(draft: _Draft) -> None:
    """Ask for the endpoint, its key and model until a small request succeeds, or the person wants it anyway."""
    while True:
        _ask(draft, BASE_URL, "Address of an OpenAI-compatible server; without one OpenAI's own")
        _ask(draft, KEY, "Key of the model", is_hidden=True)
        if draft.answers[BASE_URL]:
            _ask(draft, MODEL, "Name of its chat model; without one OpenAI's")
        else:
            draft.accept(MODEL, draft.given.pop(MODEL, draft.present.get(MODEL, "")))
        settings = draft.settings()
        if settings.is_offline:
            finding = Finding(name="model", level="fail", says="only the offline model, for demonstrations")
        else:
            finding = _examine_model(settings)
        _say(_words(finding))
        if finding.level != "fail" or typer.confirm("Use this anyway?", default=False):
            return


def _ask_operators(draft: _Draft) -> None:
    """Add people who send a code to the bot. If that is impossible, ask for ids."""
    import asyncio

    from bot.cli.operator_code import receive_operator

    if OPERATORS in draft.given:
        _ask(draft, OPERATORS, "Telegram user ids of the operators, comma-separated")
        return
    if problem := draft.accept(OPERATORS, draft.present.get(OPERATORS, "")):
        _say(problem)
        draft.accept(OPERATORS, "")
    question = "Make yourself an operator, by a code that you send to the bot?"
    while typer.confirm(question, default=not draft.answers[OPERATORS]):
        try:
            person, name = asyncio.run(receive_operator(draft.settings(), say=_say))
        except CommandFailed as reason:
            _say(str(reason))
            draft.present[OPERATORS] = draft.answers[OPERATORS]
            _ask(draft, OPERATORS, "Telegram user ids of the operators, comma-separated")
            return
        draft.accept(OPERATORS, f"{draft.answers[OPERATORS]},{person}".strip(","))
        _say(f"{name} ({person}) is an operator.")
        question = "Add another operator by a code?"


def _ask(draft: _Draft, name: str, question: str, *, is_hidden: bool = False) -> None:
    """Ask until an answer has the right form. An option answers first. Enter keeps the present value."""
    from getpass import getpass  # it stops the echo before it asks

    present = draft.present.get(name, "")
    hint = f"Enter: keep the present one, {NONE}: none" if present else "Enter: none"
    hint = f"hidden; {hint}" if is_hidden else hint
    value = draft.given.pop(name, None)
    while True:
        if value is None:
            typed = (getpass if is_hidden else input)(f"{question} ({hint}): ").strip()
            value = "" if typed == NONE else typed or present
        problem = draft.accept(name, value)
        if not problem:
            return
        _say(problem)
        value = None


def _write(draft: _Draft, *, is_confirmed: bool) -> None:
    """Write the changes after a confirmation. Raises SettingsInvalid without a terminal, typer.Abort after a no."""
    changes = draft.changes()
    replaced = [name for name in changes if name in draft.in_file]
    if replaced and not is_confirmed and not sys.stdin.isatty():
        raise SettingsInvalid([f"{name}: .env has another value; --yes replaces it" for name in replaced])
    for name in changes:
        _say(f"  {name}: {'changed' if name in replaced else 'new'}")
        if os.environ.get(name, draft.answers[name]) != draft.answers[name]:
            _say(f"  {name} is also set in the environment, which has priority over .env")
    if sys.stdin.isatty() and not is_confirmed:
        question = "Write them into .env?" if changes else "Nothing is new. Keep .env, for your eyes only?"
        typer.confirm(question, default=None if replaced else True, abort=True)
    try:
        text = _ENV.read_bytes().decode("utf-8") if _ENV.exists() else _HEAD
        write_private(_ENV, replace_values(text, changes))
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsInvalid([f".env: cannot be written ({type(error).__name__})"]) from None


def _examine_token(settings: "Settings") -> Finding:
    from bot.cli.checks.endpoints import check_bot

    return _examine("telegram", partial(check_bot, simulator_port=SIMULATOR_PORT), settings)


def _examine_model(settings: "Settings") -> Finding:
    from bot.cli.checks.endpoints import request_answer

    async def run(settings: "Settings") -> list[Finding]:
        return [await request_answer(settings, settings.openai_model)]

    return _examine("model", run, settings)


def _examine(
    name: str, run: "Callable[[Settings], Awaitable[list[Finding]]]", settings: "Settings"
) -> Finding:
    """Return the first finding of a check, without secrets."""
    import asyncio
    from dataclasses import replace

    from bot.observe.logs import configure_logs, mask

    configure_logs(log_format=settings.log_format, level="critical", secrets=settings.secrets)
    check = Check(name=name, run=run, fix="Check the network.")
    finding = asyncio.run(run_bounded(check, settings))[0]
    return replace(finding, says=mask(finding.says, settings.secrets))


def _words(finding: Finding) -> str:
    return f"{finding.name}: {finding.says}" + (f". {finding.fix}" if finding.fix else "")


def _read(option: str, path: Path | None) -> str | None:
    """Return the text of a file with a secret. Raises SettingsInvalid."""
    try:
        return None if path is None else path.read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsInvalid([f"{option}: cannot be read ({type(error).__name__})"]) from None


def _say(line: str) -> None:
    from bot.cli.output import printable

    typer.echo(printable(line))


def replace_values(text: str, values: Mapping[str, str]) -> str:
    """Return the text of an `.env` with these values. All other lines and comments stay as they are.

    A new name goes below its commented-out line, as in `.env.example`, or to the end. Values must need no quotes.
    """
    from dotenv.parser import parse_stream

    pieces = [
        (binding.key.upper() if binding.key else "", binding.original.string)
        for binding in parse_stream(StringIO(text, newline=""))
    ]
    end = "\r\n" if "\r\n" in text else "\n"
    for name, value in values.items():
        numbers = [number for number, (key, _) in enumerate(pieces) if key == name]
        if numbers:
            pieces[numbers[-1]] = name, _replace_value(pieces[numbers[-1]][1], value)
            continue
        example = re.compile(rf"^\s*#\s*{name}=", re.MULTILINE | re.IGNORECASE)
        examples = [number for number, (key, old) in enumerate(pieces) if not key and example.search(old)]
        position = examples[-1] + 1 if examples else len(pieces)
        if position and not pieces[position - 1][1].endswith(("\n", "\r")):
            pieces[position - 1] = pieces[position - 1][0], pieces[position - 1][1] + end
        pieces.insert(position, (name, f"{name}={value}{end}"))
    return "".join(old for _, old in pieces)


def write_private(path: Path, text: str) -> None:
    """Replace a file at once, readable by its owner only. A link stays, and its target is replaced. Raises OSError."""
    import tempfile

    path = path.resolve()
    descriptor, name = tempfile.mkstemp(prefix=".env.", dir=path.parent)  # with mode 0600
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="") as stream:
            stream.write(text)
            stream.flush()
            if path.exists():  # root keeps another user's file readable for them
                with suppress(PermissionError):
                    os.fchown(descriptor, path.stat().st_uid, path.stat().st_gid)
            os.fsync(descriptor)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _replace_value(assignment: str, value: str) -> str:
    match = _ASSIGNMENT.fullmatch(assignment)
    assert match is not None, "python-dotenv has parsed it"  # noqa: S101
    gap = " " if match["tail"].startswith("#") else ""
    return f"{match['head']}={value}{gap}{match['tail']}"
