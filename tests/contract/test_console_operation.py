"""The console's doctor, webhook and service commands, against a real simulator, model endpoint and stores."""

import re
import socket
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from chaos.rig.system import free_port
from memory import keys
from memory.embedded.valkey import open_valkey
from memory.redis.client import open_redis
from tests.contract.console_rig import ConsoleRig, empty_stores, on_stores, remember, settings_in
from tests.contract.simulator_rig import served_simulator
from tests.scripted_embeddings import Embeddings
from tests.scripted_openai import scripted_openai
from tests.scripted_replies import Failure, Reply, empty, text, unauthorized
from tests.stores import hold_open

pytestmark = pytest.mark.slow

SIMULATOR_TOKEN = "4242:simulator-token-not-a-secret"
OURS = "https://bot.example/telegram/webhook"
GREETING = '{"word": "hello"}'


@pytest.fixture
def simulator_url() -> Generator[str]:
    """Serve a simulator for this test."""
    with hold_open(served_simulator()) as rig:
        yield rig.url


@pytest.fixture
def console(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, data_dir: Path
) -> ConsoleRig:
    """The console with nothing but DATA_DIR and free ports set."""
    settings_in(monkeypatch, tmp_path, data_dir, HTTP_PORT=str(free_port()))
    on_stores(empty_stores())
    return ConsoleRig(capsys, simulator_port=free_port())


@pytest.fixture
def bot(console: ConsoleRig, monkeypatch: pytest.MonkeyPatch, simulator_url: str) -> None:
    """Use the simulator instead of Telegram. `console` comes first, because it clears the environment."""
    del console
    monkeypatch.setenv("TELEGRAM_BOT_TOKEN", SIMULATOR_TOKEN)
    monkeypatch.setenv("TELEGRAM_API_URL", simulator_url)


def levels(document: Any) -> dict[str, str]:
    """Return the level of each check; the last one counts for a repeated name."""
    return {check["name"]: check["level"] for check in document["checks"]}


@pytest.mark.usefixtures("bot")
def test_doctor_reports_a_healthy_system(console: ConsoleRig) -> None:
    ran = console("doctor", "--json")
    assert (ran.status, ran.err, ran.document["is_well"]) == (0, "", True)
    assert levels(ran.document) == {
        "settings": "ok",
        "agent": "ok",
        "data": "ok",
        "store": "ok",
        "partitions": "ok",
        "index": "ok",
        "embedder": "ok",
        "model": "warn",
        "media": "ok",
        "telegram": "ok",
        "privacy": "ok",
        "page": "warn",
        "webhook": "ok",
        "ports": "ok",
    }


@pytest.mark.usefixtures("bot")
def test_the_document_of_the_doctor_can_be_published(
    console: ConsoleRig, monkeypatch: pytest.MonkeyPatch
) -> None:
    on_stores(remember(1001, ["my pin is hunter1"], title="hunter2"))
    with hold_open(scripted_openai([text("hello hunter3"), text(GREETING)])) as endpoint:
        monkeypatch.setenv("OPENAI_API_KEY", "sk-hunter4")
        monkeypatch.setenv("OPENAI_BASE_URL", endpoint.base_url.replace("//", "//me:hunter5@"))
        monkeypatch.setenv("OPENAI_EMBEDDING_MODEL", "")
        monkeypatch.setenv("WEBHOOK_URL", OURS)
        monkeypatch.setenv("WEBHOOK_SECRET", "hunter6")
        ran = console("doctor", "--json")
    assert set(levels(ran.document).values()) <= {"ok", "warn"}
    assert [secret for secret in ("hunter", SIMULATOR_TOKEN) if secret in ran.out + ran.err] == []


def test_doctor_without_a_token_says_that_no_simulator_runs(console: ConsoleRig) -> None:
    ran = console("doctor")
    assert ran.status == 0
    assert "! telegram   TELEGRAM_BOT_TOKEN is not set, and no simulator runs" in ran.out
    assert max(map(len, ran.out.splitlines())) <= 80


def test_doctor_names_problems_and_advice_but_no_secret(
    console: ConsoleRig, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {
        "REDIS_URL": "redis://:hunter2@127.0.0.1:1",
        "QDRANT_URL": "http://127.0.0.1:1",
        "QDRANT_API_KEY": "hunter3",
        "OPENAI_API_KEY": "hunter4",
        "OPENAI_BASE_URL": "http://127.0.0.1:1/v1",
        "TELEGRAM_BOT_TOKEN": "77:hunter5",
        "TELEGRAM_API_URL": "http://127.0.0.1:1",
        "AGENTS_FILE": "/nowhere/agents.toml",
    }.items():
        monkeypatch.setenv(name, value)
    ran = console("doctor", "--json")
    assert ran.status == 1
    failed = {check["name"]: check for check in ran.document["checks"] if check["level"] == "fail"}
    assert set(failed) == {"agent", "store", "index", "model", "telegram", "webhook"}
    assert (
        failed["store"]["says"]
        == "REDIS_URL: Redis cannot be reached: nothing listens at this port. Start the server, or correct the port"
    )
    assert all(check["fix"] for check in failed.values())
    assert "hunter" not in ran.out + ran.err


def test_doctor_reports_wrong_settings_as_findings(
    console: ConsoleRig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PARTITIONS", "none")
    ran = console("doctor", "--json")
    assert ran.status == 1
    (check,) = ran.document["checks"]
    assert (check["name"], check["says"].partition(":")[0]) == ("settings", "PARTITIONS")


def test_doctor_sees_a_store_with_other_partitions(
    console: ConsoleRig, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert console("chats").status == 0
    monkeypatch.setenv("PARTITIONS", "2")
    ran = console("doctor", "--json")
    (partitions,) = [check for check in ran.document["checks"] if check["name"] == "partitions"]
    assert (ran.status, partitions["fix"]) == (1, "Set PARTITIONS=1, or name another store.")


def test_a_start_on_a_store_of_another_format_ends_with_one_line_that_says_what_to_do(
    console: ConsoleRig, data_dir: Path
) -> None:
    assert console("chats").status == 0
    on_stores(_set_format(data_dir, "1"))
    for command in ("run", "chats"):
        ran = console(command)
        problem = [
            line for line in ran.err.splitlines() if line.startswith("DATA_DIR: this store has format 1")
        ]
        assert (ran.status, len(problem), "Traceback" in ran.err) == (2, 1, False)
        assert "name an empty store" in problem[0]
    on_stores(_flush(data_dir))


def test_doctor_changes_nothing_in_a_store(console: ConsoleRig, data_dir: Path) -> None:
    on_stores(_flush(data_dir))
    assert console("doctor").status == 0
    assert on_stores(_keys(data_dir)) == 0


def test_doctor_refuses_a_store_that_evicts(
    console: ConsoleRig, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with hold_open(open_valkey(tmp_path / "unsafe")) as url:
        on_stores(_evict(url))
        monkeypatch.setenv("REDIS_URL", url)
        refused = console("doctor", "--json")
        monkeypatch.setenv("REDIS_ACCEPT_LOSS", "true")
        refused_too = console("doctor", "--json")
        monkeypatch.setenv("REDIS_ACCEPT_LOSS", "eviction")
        accepted = console("doctor", "--json")
    for ran in (refused, refused_too):
        assert (ran.status, levels(ran.document)["store"]) == (1, "fail")
        assert "allkeys-lru" in ran.out
    store = _check(accepted.document, "store")
    assert (accepted.status, store["level"]) == (0, "warn")
    assert store["says"].startswith("REDIS_ACCEPT_LOSS: ")
    assert store["says"].endswith("evicts messages when its memory is full (allkeys-lru)")


def test_doctor_requests_a_tiny_completion(console: ConsoleRig, monkeypatch: pytest.MonkeyPatch) -> None:
    with hold_open(scripted_openai([text("hello"), text(GREETING), unauthorized(), empty()])) as endpoint:
        monkeypatch.setenv("OPENAI_API_KEY", "sk-hunter4")
        monkeypatch.setenv("OPENAI_BASE_URL", endpoint.base_url)
        monkeypatch.setenv("OPENAI_MODEL", "scripted")
        monkeypatch.setenv("OPENAI_EMBEDDING_MODEL", "some-embedder")
        examined = [console("doctor", "--json") for _ in range(3)]
        embedder = _check(console("doctor", "--json").document, "embedder")
        request, report = (each.body for each in endpoint.chat_requests[:2])
    answers = [_check(ran.document, "model") for ran in examined]
    assert [answer["level"] for answer in answers] == ["ok", "fail", "warn"]
    assert [ran.err for ran in examined] == ["", "", ""]  # no log line among the findings
    assert "OPENAI_API_KEY" in answers[1]["fix"]
    assert "It says: Incorrect API key provided" in answers[1]["says"]
    assert (embedder["level"], embedder["says"].partition(",")[0]) == ("ok", "some-embedder")
    roles = [message["role"] for message in request["messages"]]
    assert roles == ["system", "user", "user", "assistant", "user"]  # as a turn asks
    assert (request["model"], request["stream"], len(request["tools"])) == ("scripted", True, 1)
    assert report["response_format"]["type"] == "json_schema"


def test_doctor_says_what_an_endpoint_refuses(console: ConsoleRig, monkeypatch: pytest.MonkeyPatch) -> None:
    refused = Failure(status=400, message="gemma3 does not support tools")
    with hold_open(scripted_openai([Reply(failure=refused), text("hello"), text(GREETING)])) as endpoint:
        monkeypatch.setenv("OPENAI_BASE_URL", endpoint.base_url)
        monkeypatch.setenv("OPENAI_MODEL", "scripted")
        monkeypatch.setenv("OPENAI_EMBEDDING_MODEL", "")
        answer = _check(console("doctor", "--json").document, "model")
    assert answer["level"] == "warn"
    assert "but only without tools" in answer["says"]
    assert "choose a model that can call tools" in answer["fix"]


def test_doctor_quotes_an_embedding_endpoint_that_fails_and_does_not_fail_itself(
    console: ConsoleRig, monkeypatch: pytest.MonkeyPatch
) -> None:
    odd = Embeddings(odd=lambda _: (200, {"error": {"message": "sk-hunter4 may not embed " + 300 * "x"}}))
    with hold_open(scripted_openai([text("hello"), text(GREETING)], embeddings=odd)) as endpoint:
        monkeypatch.setenv("OPENAI_API_KEY", "sk-hunter4")
        monkeypatch.setenv("OPENAI_BASE_URL", endpoint.base_url)
        monkeypatch.setenv("OPENAI_EMBEDDING_MODEL", "some-embedder")
        ran = console("doctor", "--json")
    embedder = _check(ran.document, "embedder")
    assert (ran.status, embedder["level"]) == (0, "warn")
    assert "*** may not embed x" in embedder["says"]
    assert embedder["says"].endswith("Recall uses words only until it answers.")
    assert len(embedder["says"]) < 350
    assert "hunter4" not in ran.out + ran.err


def test_doctor_sees_another_program_on_our_port(
    console: ConsoleRig, monkeypatch: pytest.MonkeyPatch, simulator_url: str
) -> None:
    port = simulator_url.rpartition(":")[2]
    monkeypatch.setenv("HTTP_PORT", port)
    ran = console("doctor", "--json", "--simulator-port", port)
    ports = [check for check in ran.document["checks"] if check["name"] == "ports"]
    assert [check["level"] for check in ports] == ["fail", "ok"]
    assert ports[0]["says"] == f"HTTP_PORT: port {port} on 127.0.0.1 is in use by another program"
    assert ports[1]["says"] == f"--simulator-port {port}: a running simulator answers there"


@pytest.mark.usefixtures("bot")
def test_doctor_sees_a_webhook_that_prevents_polling(
    console: ConsoleRig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WEBHOOK_URL", OURS)
    assert _check(console("doctor", "--json").document, "webhook")["level"] == "warn"
    assert console("webhook", "set").status == 0
    assert _check(console("doctor", "--json").document, "webhook")["level"] == "ok"
    monkeypatch.delenv("WEBHOOK_URL")
    ran = console("doctor", "--json")
    assert (ran.status, _check(ran.document, "webhook")["level"]) == (1, "fail")


@pytest.mark.usefixtures("bot")
def test_the_webhook_is_set_shown_and_deleted(console: ConsoleRig, monkeypatch: pytest.MonkeyPatch) -> None:
    assert console("webhook", "info").out.startswith("No webhook is set: updates are polled.")
    monkeypatch.setenv("WEBHOOK_URL", "https://bot.example")
    assert console("webhook", "set").out.startswith(f"Telegram pushes updates to {OURS}.")
    document = console("webhook", "info", "--json").document
    assert (document["url"], document["is_ours"], document["last_error"]) == (OURS, True, None)
    monkeypatch.setenv("WEBHOOK_URL", "https://elsewhere.example")
    foreign = console("webhook", "info")
    assert "https://bot.example/… (not our WEBHOOK_URL)" in foreign.out
    assert console("webhook", "delete").out.startswith("The webhook at bot.example is deleted.")
    assert console("webhook", "delete").out.startswith("There was no webhook.")


def test_a_webhook_is_not_set_without_an_address(console: ConsoleRig) -> None:
    ran = console("webhook", "set")
    assert (ran.status, ran.err.partition(":")[0]) == (2, "WEBHOOK_URL")


def test_without_a_token_webhook_uses_the_running_simulator(console: ConsoleRig, simulator_url: str) -> None:
    missing = console("webhook", "info")
    assert (missing.status, missing.err.partition(":")[0]) == (1, "TELEGRAM_API_URL")
    port = simulator_url.rpartition(":")[2]
    assert console("webhook", "info", "--json", "--simulator-port", port).document["url"] is None


@pytest.mark.parametrize("command", ["serve", "work"])
def test_a_separate_service_needs_a_token(console: ConsoleRig, command: str) -> None:
    ran = console(command)
    assert (ran.status, ran.out) == (2, "")
    assert re.fullmatch(rf"TELEGRAM_BOT_TOKEN: is not set, and `mnemogram {command}` needs .*\n", ran.err)


@pytest.mark.parametrize("command", [["run"], ["serve"], ["work"], ["work", "--health-port", "0"]])
def test_an_unknown_token_ends_a_service(
    console: ConsoleRig, monkeypatch: pytest.MonkeyPatch, simulator_url: str, command: list[str]
) -> None:
    monkeypatch.setenv("TELEGRAM_API_URL", simulator_url)
    monkeypatch.setenv("TELEGRAM_BOT_TOKEN", "77:unknown-hunter5")
    monkeypatch.setenv("LOG_LEVEL", "error")
    ran = console(*command)
    assert (ran.status, ran.out) == (2, "")
    assert ran.err == "TELEGRAM_BOT_TOKEN: the Bot API does not know this token (TELEGRAM_BOT_TOKEN)\n"


@pytest.mark.parametrize(
    ("command", "setting", "named"),
    [
        (["run"], "HTTP_PORT", "HTTP_PORT"),
        (["run", "--simulator-port", "{port}"], "", "--simulator-port"),
        (["simulate", "--port", "{port}"], "", "--port"),
        (["work", "--health-port", "{port}"], "", "--health-port"),
    ],
)
def test_a_used_port_ends_the_start_and_is_named(
    console: ConsoleRig, monkeypatch: pytest.MonkeyPatch, command: list[str], setting: str, named: str
) -> None:
    if command[0] == "work":
        monkeypatch.setenv("TELEGRAM_BOT_TOKEN", "77:token")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        if setting:
            monkeypatch.setenv(setting, port)
        ran = console(*(word.format(port=port) for word in command))
    assert (ran.status, ran.err) == (2, f"{named}: port {port} on 127.0.0.1 is in use by another program\n")


@pytest.mark.parametrize(("command", "named"), [("simulate", "--port"), ("run", "--simulator-port")])
def test_a_port_that_browsers_refuse_ends_the_start(console: ConsoleRig, command: str, named: str) -> None:
    ran = console(command, named, "1")
    assert (ran.status, ran.err) == (2, f"{named}: browsers open no page at port 1; take one from 1024 on\n")


def _check(document: Any, name: str) -> Any:
    return next(check for check in document["checks"] if check["name"] == name)


async def _flush(data_dir: Path) -> None:
    async with open_valkey(data_dir) as url, open_redis(url) as redis:
        await redis.call("FLUSHALL")


async def _set_format(data_dir: Path, number: str) -> None:
    async with open_valkey(data_dir) as url, open_redis(url) as redis:
        await redis.call("SET", keys.global_key("format"), number)


async def _keys(data_dir: Path) -> int:
    async with open_valkey(data_dir) as url, open_redis(url) as redis:
        return int(await redis.call("DBSIZE"))


async def _evict(url: str) -> None:
    async with open_redis(url) as redis:
        await redis.call("CONFIG", "SET", "maxmemory-policy", "allkeys-lru")
