"""`mnemogram init` in a real terminal and without one, on the simulator's Bot API and a scripted endpoint."""

import io
import os
import re
import socket
import subprocess
import sys
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pexpect
import pytest
from dotenv import dotenv_values

from tests.contract.simulator_rig import served_simulator
from tests.scripted_openai import ScriptedOpenAI, scripted_openai
from tests.scripted_replies import Reply, text, unauthorized
from tests.scripted_script import ChatRequest
from tests.stores import hold_open

# Python 3.12 warns of the fork of a terminal beside threads. The child begins another program at once.
pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning"),
]

ROOT = Path(__file__).parents[2]
TOKEN = "4242:simulator-token-not-a-secret"
KEY, WRONG_KEY = "sk-hunter4", "sk-hunter5"
ANNA, OTHER = 1001, 1002
DEADLINE_S = 180

ASKS_TOKEN = r"Token of the bot, from @BotFather \(.*\): "
ASKS_SERVER = r"Address of an OpenAI-compatible server; .*\): "
ASKS_KEY = r"Key of the model \(.*\): "
ASKS_MODEL = r"Name of its chat model; .*\(.*\): "
ASKS_CODE = r"operator.*by a code.*\[.*\]: "
ASKS_IDS = r"Telegram user ids of the operators, comma-separated \(.*\): "
ASKS_ADDRESS = r"Public https address of this bot, .*\): "
ASKS_WRITING = r"Write them into \.env\? \[.*\]: "
CODE = r"start=([0-9a-f]{8}) "
OLD = f"# mine\nTELEGRAM_BOT_TOKEN={TOKEN}\nRECALL_K=5 # five\nOPENAI_API_KEY={WRONG_KEY}\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A folder in which `init` runs, with the servers that it reaches."""

    folder: Path
    simulator: str
    endpoint: ScriptedOpenAI
    environment: dict[str, str]

    @property
    def env(self) -> Path:
        return self.folder / ".env"

    def terminal(self, *options: str) -> "Terminal":
        """Start `init` in a terminal of its own."""
        child: pexpect.spawn[str] = pexpect.spawn(
            sys.executable,
            ["-m", "bot", "init", *options],
            cwd=str(self.folder),
            env=self.environment,
            timeout=DEADLINE_S,
            encoding="utf-8",
            dimensions=(40, 200),
        )
        seen = io.StringIO()
        child.logfile_read = seen
        return Terminal(child=child, seen=seen)

    def without_terminal(self, *options: str, **settings: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [sys.executable, "-m", "bot", "init", *options],
            cwd=self.folder,
            env={**self.environment, **settings},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=DEADLINE_S,
            check=False,
        )

    def bot_api(self, method: str, **parameters: Any) -> Any:
        answer = httpx.post(f"{self.simulator}/bot{TOKEN}/{method}", json=parameters, trust_env=False)
        return answer.json()["result"]

    def say(self, person: int, words: str) -> None:
        body = {"chat_id": person, "from_id": person, "text": words}
        assert httpx.post(f"{self.simulator}/api/messages", json=body, trust_env=False).status_code == 200

    def pending(self) -> list[str]:
        """Return the texts that wait for the bot."""
        return [update["message"]["text"] for update in self.bot_api("getUpdates")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Terminal:
    """A person at the terminal: `seen` is everything that it showed."""

    child: "pexpect.spawn[str]"
    seen: io.StringIO

    def answer(self, question: str, *answers: str) -> None:
        """Wait for a question as often as there are answers, and type them."""
        for each in answers:
            self.child.expect(question)
            self.child.sendline(each)

    def interrupt(self, question: str) -> None:
        """Press Ctrl-C after a question, again if nothing happens: Python loses a signal just before it reads."""
        self.child.expect(question)
        self.child.sendintr()
        while self.child.expect([pexpect.EOF, pexpect.TIMEOUT], timeout=5):
            self.child.sendintr()

    def end(self) -> tuple[int | None, str]:
        """Return the exit status and everything that was shown."""
        self.child.expect(pexpect.EOF)
        self.child.close()
        return self.child.exitstatus, self.seen.getvalue()

    def written(self) -> str:
        """Wait until the file is written, leave before the doctor, and return everything that was shown."""
        self.child.expect(r"\.env is written\.")
        self.child.close(force=True)
        return self.seen.getvalue()


@pytest.fixture
def place(tmp_path: Path) -> Generator[Place]:
    """An empty folder, a simulator, and an endpoint that refuses requests for the model `wrong`."""
    with (
        hold_open(served_simulator()) as rig,
        hold_open(scripted_openai(_answer)) as endpoint,
        socket.create_server(("127.0.0.1", 0)) as listener,
    ):
        port = str(listener.getsockname()[1])
        listener.close()
        environment = {
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(ROOT),
            "TERM": "dumb",
            "HTTP_PORT": port,
            "TELEGRAM_API_URL": rig.url,
        }
        yield Place(folder=tmp_path, simulator=rig.url, endpoint=endpoint, environment=environment)


def test_a_newcomer_is_asked_again_until_each_answer_is_right(place: Place) -> None:
    terminal = place.terminal()
    terminal.answer(ASKS_TOKEN, "", "hunter1", "77:hunter2", TOKEN)
    terminal.answer(ASKS_SERVER, "ftp://nowhere", place.endpoint.base_url)
    terminal.answer(ASKS_KEY, WRONG_KEY)
    terminal.answer(ASKS_MODEL, "wrong")
    terminal.answer(r"Use this anyway\? \[y/N\]: ", "n")
    terminal.answer(ASKS_SERVER, place.endpoint.base_url)
    terminal.answer(ASKS_KEY, "two words", KEY)
    terminal.answer(ASKS_MODEL, "scripted")
    terminal.answer(ASKS_CODE, "n")
    terminal.answer(ASKS_ADDRESS, "http://bot.example", "")
    terminal.answer(ASKS_WRITING, "y")
    status, seen = terminal.end()

    assert status == has_failed(seen)
    assert [
        reason
        for reason in (
            "A bot needs a token: send /newbot to @BotFather",
            "TELEGRAM_BOT_TOKEN: must look like 123456:ABC-DEF",
            "the Bot API does not know this token",
            "OPENAI_BASE_URL: must be an http:// or https:// address",
            "and that the endpoint has the model wrong",
            "OPENAI_API_KEY: has a space",
            "WEBHOOK_URL: must be a public https:// address",
            ".env is written.",
            "scripted answers in",
            "updates are polled",
        )
        if reason not in seen
    ] == []
    assert [secret for secret in ("hunter", TOKEN, "two words") if secret in seen] == []
    assert dotenv_values(place.env) == {
        "TELEGRAM_BOT_TOKEN": TOKEN,
        "OPENAI_BASE_URL": place.endpoint.base_url,
        "OPENAI_API_KEY": KEY,
        "OPENAI_MODEL": "scripted",
        "OPENAI_EMBEDDING_MODEL": "",
    }
    assert place.env.stat().st_mode & 0o777 == 0o600


def test_the_sender_of_the_code_becomes_an_operator_and_nobodys_update_is_lost(place: Place) -> None:
    place.env.write_text(OLD.replace(WRONG_KEY, KEY))
    place.say(OTHER, "hello, bot")
    terminal = _until_operators(place)

    terminal.answer(ASKS_CODE, "")
    code = _shown_code(terminal)
    place.say(OTHER, "00000000")
    place.say(ANNA, f"/start {code}")
    terminal.answer(ASKS_CODE, "n")
    terminal.answer(ASKS_ADDRESS, "")
    terminal.answer(ASKS_WRITING, "y")
    seen = terminal.written()

    assert f"({ANNA}) is an operator" in seen
    assert dotenv_values(place.env)["OPERATOR_IDS"] == str(ANNA)
    assert place.pending() == ["hello, bot", "00000000", f"/start {code}"]


def test_the_bot_need_not_see_a_code_that_nothing_waits_before(place: Place) -> None:
    place.env.write_text(f"{OLD}OPERATOR_IDS=7")
    terminal = _until_operators(place)

    terminal.answer(ASKS_CODE, "y")
    place.say(ANNA, "/start")
    place.say(ANNA, _shown_code(terminal))
    place.say(OTHER, "hello, bot")
    terminal.answer(ASKS_CODE, "n")
    terminal.answer(ASKS_ADDRESS, "")
    terminal.answer(ASKS_WRITING, "y")
    terminal.written()

    assert dotenv_values(place.env)["OPERATOR_IDS"] == f"7,{ANNA}"
    assert place.pending() == ["hello, bot"]


def test_a_code_replaces_a_name_that_is_no_number(place: Place) -> None:
    place.env.write_text(f"{OLD}OPERATOR_IDS=@anna")
    terminal = _until_operators(place)

    terminal.answer(ASKS_CODE, "")
    place.say(ANNA, _shown_code(terminal))
    terminal.answer(ASKS_CODE, "n")
    terminal.answer(ASKS_ADDRESS, "")
    terminal.answer(ASKS_WRITING, "y")
    seen = terminal.written()

    assert "OPERATOR_IDS: @anna is not a number" in seen
    assert dotenv_values(place.env)["OPERATOR_IDS"] == str(ANNA)


@pytest.mark.parametrize("reason", ["webhook", "crowd"])
def test_ids_are_asked_for_if_a_code_cannot_be_read(place: Place, reason: str) -> None:
    if reason == "webhook":
        place.bot_api("setWebhook", url=f"{place.simulator}/secret/webhook")
    for number in range(100 if reason == "crowd" else 0):
        place.say(ANNA, str(number))
    place.env.write_text(OLD)
    terminal = _until_operators(place)

    terminal.answer(ASKS_CODE, "y")
    terminal.answer(ASKS_IDS, "Anna", f"{ANNA}, {OTHER}")
    terminal.answer(ASKS_ADDRESS, "")
    terminal.answer(ASKS_WRITING, "y")
    seen = terminal.written()

    why = {"webhook": "go to a webhook at 127.0.0.1", "crowd": "100 updates or more wait"}
    assert (why[reason] in seen, "/secret" in seen) == (True, False)
    assert dotenv_values(place.env)["OPERATOR_IDS"] == f"{ANNA},{OTHER}"
    assert place.bot_api("getWebhookInfo")["pending_update_count"] == (100 if reason == "crowd" else 0)


def test_a_present_file_keeps_its_lines_and_changes_only_after_a_yes(place: Place) -> None:
    place.env.write_text(OLD)
    place.env.chmod(0o644)
    for answer in ("n", "y"):
        terminal = _until_operators(place)
        terminal.answer(ASKS_CODE, "n")
        terminal.answer(ASKS_ADDRESS, "https://bot.example")
        assert place.env.read_text() == OLD
        terminal.answer(ASKS_WRITING, answer)
        seen = terminal.end()[1] if answer == "n" else terminal.written()

        assert ("OPENAI_API_KEY: changed" in seen, "WEBHOOK_URL: new" in seen) == (True, True)
        assert "TELEGRAM_BOT_TOKEN:" not in seen
        assert [secret for secret in (KEY, WRONG_KEY, TOKEN) if secret in seen] == []
        if answer == "n":
            assert (terminal.child.exitstatus, place.env.read_text()) == (1, OLD)
            assert "Nothing was changed." in seen
    new = OLD.replace(WRONG_KEY, KEY)
    endpoint = f"OPENAI_BASE_URL={place.endpoint.base_url}\n"
    assert place.env.read_text().startswith(new + endpoint)
    assert "WEBHOOK_URL=https://bot.example\n" in place.env.read_text()
    assert place.env.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("question", [ASKS_TOKEN, ASKS_SERVER, CODE, ASKS_WRITING])
def test_ctrl_c_changes_nothing(place: Place, question: str) -> None:
    place.env.write_text(OLD)
    if question in (ASKS_TOKEN, ASKS_SERVER):
        terminal = place.terminal()
    else:
        terminal = _until_operators(place)
        terminal.answer(ASKS_CODE, "y" if question == CODE else "n")
    if question == ASKS_SERVER:
        terminal.answer(ASKS_TOKEN, "")
    if question == ASKS_WRITING:
        terminal.answer(ASKS_ADDRESS, "")
    terminal.interrupt(question)
    status, seen = terminal.end()

    assert (status, "Traceback" in seen) == (1, False)
    assert seen.rstrip().endswith("Nothing was changed.")
    assert [path.name for path in place.folder.iterdir()] == [".env"]
    assert place.env.read_text() == OLD


def test_without_a_terminal_options_answer_and_doctor_has_the_last_word(place: Place) -> None:
    (place.folder / "token").write_text(f"{TOKEN}\n")
    options = ("--token-file", "token", "--base-url", place.endpoint.base_url, "--model", "scripted")

    refused = place.without_terminal(*options[:-1], "wrong", OPENAI_API_KEY=WRONG_KEY)
    done = place.without_terminal(*options, "--operators", str(ANNA), OPENAI_API_KEY=KEY)
    other = place.without_terminal(*options, OPENAI_API_KEY="sk-hunter6")

    assert (refused.returncode, refused.stderr.partition(":")[0]) == (1, "model")
    assert (done.returncode, done.stderr) == (has_failed(done.stdout), "")
    assert "settings   valid" in done.stdout
    assert (other.returncode, other.stderr) == (
        2,
        "OPENAI_API_KEY: .env has another value; --yes replaces it\n",
    )
    assert "hunter" not in "".join(each.stdout + each.stderr for each in (refused, done, other))
    values = dotenv_values(place.env)
    assert (values["OPENAI_API_KEY"], values["OPERATOR_IDS"]) == (KEY, str(ANNA))
    assert place.env.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("options", "settings", "problems"),
    [
        ([], {}, ["TELEGRAM_BOT_TOKEN: is not set", "OPENAI_API_KEY: is not set"]),
        (["--key-file", "nowhere"], {}, ["--key-file: cannot be read (FileNotFoundError)"]),
        (
            ["--operators", "Anna", "--public-url", "bot.example"],
            {"TELEGRAM_BOT_TOKEN": "hunter1", "OPENAI_API_KEY": "two hunters"},
            ["TELEGRAM_BOT_TOKEN: must", "OPENAI_API_KEY: has", "OPERATOR_IDS: ", "WEBHOOK_URL: must"],
        ),
        ([], {"PARTITIONS": "none"}, ["PARTITIONS: "]),
    ],
)
def test_without_a_terminal_each_problem_is_a_line(
    place: Place, options: list[str], settings: dict[str, str], problems: list[str]
) -> None:
    ran = place.without_terminal(*options, **settings)

    lines = ran.stderr.splitlines()
    assert (ran.returncode, ran.stdout, len(lines)) == (2, "", len(problems))
    assert [line for line, start in zip(lines, problems, strict=True) if not line.startswith(start)] == []
    assert "hunter" not in ran.stderr
    assert list(place.folder.iterdir()) == []


def has_failed(seen: str) -> bool:
    """Return True if the doctor found a failure, as it may on a slow machine. Its status is ours."""
    assert "settings   valid" in seen
    return "✗" in seen


def _answer(body: ChatRequest) -> Reply:
    return unauthorized() if body["model"] == "wrong" else text("hello")


def _until_operators(place: Place) -> Terminal:
    """Answer until operators are asked for: keep the token, and give the scripted endpoint and its key."""
    terminal = place.terminal("--base-url", place.endpoint.base_url, "--model", "scripted")
    terminal.answer(ASKS_TOKEN, "")
    terminal.answer(ASKS_KEY, KEY)
    return terminal


def _shown_code(terminal: Terminal) -> str:
    terminal.child.expect(CODE)
    found = terminal.child.match
    assert isinstance(found, re.Match)
    return str(found[1])
