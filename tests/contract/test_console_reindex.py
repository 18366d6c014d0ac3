"""`mnemogram reindex` on real embedded stores: its work, output and exit status."""

from collections.abc import Generator

import pytest

from bot.cli.session import Progress
from tests.contract.console_rig import ConsoleRig, on_stores, remember, vectors_of
from tests.contract.reindex_kit import Clock
from tests.scripted_embeddings import Embeddings
from tests.scripted_openai import ScriptedOpenAI, scripted_openai
from tests.stores import hold_open

pytestmark = pytest.mark.slow

ANNA = ["My sister Anna lives in Lisbon.", "Noted.", "I like strong coffee.", "So do I."]
MINILM = "all-MiniLM-L6-v2"


@pytest.fixture
def endpoint(console: ConsoleRig) -> Generator[ScriptedOpenAI]:
    """Serve an embedder that is not the embedded one."""
    with hold_open(scripted_openai([], embeddings=Embeddings(dimension=48))) as server:
        yield server


def use(endpoint: ScriptedOpenAI, monkeypatch: pytest.MonkeyPatch, model: str = "bag-of-words") -> None:
    """Set this endpoint's embedder in the environment."""
    monkeypatch.setenv("OPENAI_BASE_URL", endpoint.base_url)
    monkeypatch.setenv("OPENAI_EMBEDDING_MODEL", model)


def joined(text: str) -> str:
    """Return wrapped output as one line."""
    return " ".join(text.split())


def test_on_empty_stores_there_is_nothing_to_do(console: ConsoleRig) -> None:
    ran = console("reindex")
    assert (ran.status, ran.err) == (0, "")
    assert joined(ran.out).startswith(
        f"Nothing to do: every message is in the space of {MINILM}, 384 dimensions"
    )
    assert console("reindex", "--json").document["is_whole"] is True


def test_messages_older_than_the_record_are_indexed(console: ConsoleRig) -> None:
    on_stores(remember(1001, ANNA))
    ran = console("reindex")
    assert (ran.status, ran.err) == (0, "")
    assert f"into the space of {MINILM}, 384 dimensions" in joined(ran.out)
    assert "Complete: 4 messages in" in ran.out
    assert "Lisbon" in console("search", "1001", "Anna lives in Lisbon").out
    assert "Nothing to do" in console("reindex").out


def test_a_reset_needs_no_embedding_endpoint(
    console: ConsoleRig, endpoint: ScriptedOpenAI, monkeypatch: pytest.MonkeyPatch
) -> None:
    on_stores(remember(1001, ANNA))
    use(endpoint, monkeypatch)  # a model of which only the endpoint, and then the record, says the dimension
    assert console("reindex").status == 0
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    ran = console("reset", "1001", "--yes", "--json")
    assert (ran.status, ran.err) == (0, "")
    assert ran.document["messages_erased"] == 4
    assert ran.document["is_proven"] is True
    assert on_stores(vectors_of(1001)) == 0


def test_the_embedding_model_is_changed_and_changed_back(
    console: ConsoleRig, endpoint: ScriptedOpenAI, monkeypatch: pytest.MonkeyPatch
) -> None:
    on_stores(remember(1002, ANNA))
    console("reindex")
    use(endpoint, monkeypatch)
    document = console("reindex", "--json").document
    assert (document["from"]["model"], document["to"]["model"]) == (MINILM, "bag-of-words")
    assert (document["messages"], document["is_whole"]) == (4, True)
    assert "Lisbon" in console("search", "1002", "Anna lives in Lisbon").out
    assert on_stores(vectors_of(1002)) == 8  # the former space goes a minute later

    monkeypatch.delenv("OPENAI_BASE_URL")
    assert console("reindex", "--json").document["to"]["model"] == MINILM
    assert "Lisbon" in console("search", "1002", "Anna lives in Lisbon").out


def test_a_command_of_other_settings_searches_the_present_space_and_changes_nothing(
    console: ConsoleRig, endpoint: ScriptedOpenAI, monkeypatch: pytest.MonkeyPatch
) -> None:
    on_stores(remember(1001, ANNA))
    console("reindex")
    use(endpoint, monkeypatch)
    ran = console("search", "1001", "Anna lives in Lisbon")
    assert "Lisbon" in ran.out
    assert ran.err == ""
    assert f"searches use those of {MINILM}" in joined(console("doctor").out)
    monkeypatch.delenv("OPENAI_BASE_URL")
    assert "Nothing to do" in console("reindex").out


def test_a_model_that_does_not_work_changes_nothing(
    console: ConsoleRig, endpoint: ScriptedOpenAI, monkeypatch: pytest.MonkeyPatch
) -> None:
    on_stores(remember(1001, ANNA))
    console("reindex")
    use(endpoint, monkeypatch)
    endpoint.embeddings = Embeddings(dimension=48, failure="null")
    ran = console("reindex")
    assert (ran.status, ran.out) == (1, "")
    assert ran.err.startswith(
        "OPENAI_EMBEDDING_MODEL: the embedding endpoint's answer is not a list of vectors"
    )
    monkeypatch.delenv("OPENAI_BASE_URL")
    assert "Nothing to do" in console("reindex").out


def test_force_indexes_everything_again(console: ConsoleRig) -> None:
    on_stores(remember(1003, ANNA))
    console("reindex")
    assert console("reindex", "--force", "--json").document["messages"] == 4
    assert on_stores(vectors_of(1003)) == 4


def test_lines_show_the_rate_and_the_time_left(capsys: pytest.CaptureFixture[str]) -> None:
    clock = Clock()
    lines = Progress("messages", clock=clock)
    for seconds, done in ((0, 1_000), (1, 1_200), (4, 2_000), (1, 2_100), (0, 10_000), (0, 10_000)):
        clock.now += seconds
        lines.show(done, 10_000)
    assert capsys.readouterr().err.splitlines() == [
        "2,000 of 10,000 messages, 200 a second, 40 s left",
        "10,000 of 10,000 messages, 1,500 a second",
    ]
