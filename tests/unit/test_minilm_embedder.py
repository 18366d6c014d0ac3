"""The embedded embedder: its input limits, scripts, memory and time, and damaged packages."""

import asyncio
import math
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from bot.app.stores import embedder_config
from bot.features.settings import load_settings
from memory.recall.embedders import minilm as minilm_embedder
from memory.recall.embedders.embedder import EmbeddingRefused
from memory.recall.embedders.minilm import FOLDER, MiniLMEmbedder, damaged_files, plan_batches, plan_calls
from memory.stores import warm_up


async def test_a_question_is_nearest_to_its_answer(minilm: MiniLMEmbedder) -> None:
    answer, other, question = await minilm.embed(
        ["my sister Anna lives in Lisbon", "the invoice is due on Friday", "where does Anna live?"]
    )

    assert np.dot(question, answer) > 0.5 > np.dot(question, other) + 0.3


async def test_only_the_first_tokens_of_a_long_text_count(minilm: MiniLMEmbedder) -> None:
    beginning = "one two three four five six seven eight nine ten " * 30

    first, second, whole = await minilm.embed([beginning, beginning + "elephants", beginning * 10_000])

    assert first == pytest.approx(second, abs=1e-6)
    assert first == pytest.approx(whole, abs=1e-6)


async def test_lone_surrogates_are_embedded(minilm: MiniLMEmbedder) -> None:
    [vector] = await minilm.embed(["Anna \ud83d lives"])

    assert math.hypot(*vector) == pytest.approx(1, abs=1e-5)


async def test_the_event_loop_is_not_blocked_by_embedding(minilm: MiniLMEmbedder) -> None:
    embedder = minilm
    await embedder.load()
    embedding = asyncio.create_task(embedder.embed(["a text of some length, word after word " * 8] * 24))
    turns = 0

    while not embedding.done():
        await asyncio.sleep(0)
        turns += 1

    assert len(await embedding) == 24
    assert turns > 100


def test_batches_contain_every_text_once_and_one_length() -> None:
    lengths = [3, 256, 20, 4, 200, 256, 3, 120, *[100] * 5]

    batches = list(plan_batches(lengths))

    assert sorted(index for batch in batches for index in batch) == list(range(len(lengths)))
    assert [lengths[index] for batch in batches for index in batch] == sorted(lengths)
    assert all(len({lengths[index] for index in batch}) == 1 for batch in batches)
    assert [[lengths[index] for index in batch] for batch in batches if lengths[batch[0]] == 100] == [
        [100, 100],
        [100, 100],
        [100],
    ]


def test_calls_have_all_batches_and_a_bounded_size() -> None:
    lengths = [3, 256, 20, 4, 200, 256, 3, 120, *[100] * 5]

    calls = list(plan_calls(lengths))

    assert [batch for batches in calls for batch in batches] == list(plan_batches(lengths))
    assert [sum(lengths[index] for batch in batches for index in batch) for batches in calls] == [
        230,
        200,
        220,
        200,
        256,
        256,
    ]


@pytest.fixture
def unloaded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Unload the model, which is loaded once, and restore it for later tests."""
    monkeypatch.setattr(minilm_embedder, "_model", None)


@pytest.fixture
def copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, unloaded: None) -> Path:
    """Copy the model's folder, and let the embedder load that."""
    folder = tmp_path / "model"
    shutil.copytree(FOLDER, folder)
    monkeypatch.setattr(minilm_embedder, "FOLDER", folder)
    return folder


async def test_the_whole_files_are_loaded(copied: Path) -> None:
    assert damaged_files(copied) == []
    assert len(await MiniLMEmbedder().embed(["where does Anna live?"])) == 1


@pytest.mark.usefixtures("unloaded")
async def test_a_missing_library_is_reported_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(minilm_embedder, "_LIBRARY", "no_such_package")

    with pytest.raises(EmbeddingRefused, match="not installed: pip install no_such_package"):
        await MiniLMEmbedder().load()


@pytest.mark.parametrize(
    "name", ["model.bin", "tokenizer.json", "config.json", "vocabulary.json", "SHA256SUMS"]
)
@pytest.mark.parametrize("damage", ["missing", "cut", "changed"])
async def test_a_damaged_file_is_refused_by_name(copied: Path, name: str, damage: str) -> None:
    content = (copied / name).read_bytes()
    (copied / name).unlink()
    if damage != "missing":
        middle = len(content) // 2
        kept = (
            content[: middle - 9] if damage == "cut" else content[:middle] + b"\xff" + content[middle + 1 :]
        )
        (copied / name).write_bytes(kept)

    with pytest.raises(EmbeddingRefused, match=rf"damaged \(.*{'' if name == 'SHA256SUMS' else name}"):
        await MiniLMEmbedder().load()


@pytest.mark.usefixtures("unloaded")
async def test_a_warmed_up_worker_has_loaded_the_model(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    await warm_up(embedder_config(load_settings(_env_file=None)))
    monkeypatch.setattr(minilm_embedder, "FOLDER", tmp_path)
    assert len(await MiniLMEmbedder().embed(["where does Anna live?"])) == 1


async def test_a_damaged_model_does_not_end_the_start(copied: Path) -> None:
    (copied / "model.bin").unlink()
    await warm_up(embedder_config(load_settings(_env_file=None)))
    with pytest.raises(EmbeddingRefused, match="is damaged"):
        await MiniLMEmbedder().load()


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the peak is read from Linux's /proc")
def test_loading_takes_little_more_memory_than_the_model() -> None:
    """Its file has 23 MB."""
    program = (
        "import asyncio, pathlib, re, sys\n"
        "from memory.recall.embedders.minilm import MiniLMEmbedder\n"
        "def peak(): return int(re.search(r'VmHWM:\\s+(\\d+)', pathlib.Path('/proc/self/status').read_text())[1])\n"
        "before = peak()\n"
        "asyncio.run(MiniLMEmbedder().load())\n"
        "assert 20 << 10 < peak() - before < 60 << 10, peak() - before\n"
    )

    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


READ = [
    "where does Anna live?",
    "¿dónde vive Anna?",
    "Zażółć gęślą jaźń",
    "ok",
    "ok 👍",
    "42",
    "+1 555 0134",
    "18:30",
    "I said привет to her",
    "Anna schrieb: 東京",
    "see https://example.org/путь",
    "def f(x): return x**2",
]
NOT_READ = [
    "",
    "  \n\t",
    "\u200b",
    "?!…",
    "\x00\x1b",
    "👍",
    "😀👩\u200d👩\u200d👧 🇵🇹",
    "где живёт Анна?",
    "она сказала hello вчера",
    "آنا کجا زندگی می‌کند؟",
    "安娜住在哪里",
    "妹は東京に住んでいます",
    "iPhoneを買いました、とても気に入っています",
    "۱۲۳",
    "१२३ ٤٢",
    "да 100",
]


@pytest.mark.parametrize("text", READ)
def test_the_embedder_reads_latin_letters_and_figures(minilm: MiniLMEmbedder, text: str) -> None:
    assert minilm.reads(text)


@pytest.mark.parametrize("text", NOT_READ)
def test_the_embedder_does_not_read_other_scripts_emoji_and_marks(minilm: MiniLMEmbedder, text: str) -> None:
    assert not minilm.reads(text)


async def test_a_figure_is_nearest_to_a_question_for_it(minilm: MiniLMEmbedder) -> None:
    questions = ["what year was he born?", "when does the meeting start?", "what is the server's IP address?"]
    figures = ["1990", "18:30", "192.168.0.1"]

    vectors = np.array(await minilm.embed([*questions, "does she like our dog?", *figures]))

    cosines = vectors[:4] @ vectors[4:].T
    assert list(cosines[:3].argmax(axis=1)) == [0, 1, 2]
    assert cosines[3].max() < 0.15


async def test_figures_of_other_scripts_are_indistinguishable(minilm: MiniLMEmbedder) -> None:
    """This is why the embedder does not read them."""
    one, other = await minilm.embed(["۱۲۳", "४५६७"])

    assert np.dot(one, other) > 0.999


def test_embedding_imports_no_torch() -> None:
    program = (
        "import asyncio, sys\n"
        "from memory.recall.embedders.minilm import MiniLMEmbedder\n"
        "asyncio.run(MiniLMEmbedder().embed(['a text']))\n"
        "assert not {'torch', 'sentence_transformers', 'transformers'} & set(sys.modules)\n"
    )

    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


async def test_embedding_goes_on_while_other_programs_are_started(minilm: MiniLMEmbedder) -> None:
    before = await minilm.embed(["where does Anna live?"])

    started = await asyncio.create_subprocess_exec(
        sys.executable, "-c", "print('hello')", stdout=subprocess.PIPE
    )
    assert (await started.communicate())[0] == b"hello\n"

    assert await minilm.embed(["where does Anna live?"]) == before


def test_a_forked_process_is_told_instead_of_waiting_forever(minilm: MiniLMEmbedder) -> None:
    asyncio.run(minilm.load())
    child = os.fork()
    if child == 0:
        try:
            asyncio.run(minilm.embed(["hello"]))
        except EmbeddingRefused:
            os._exit(7)
        os._exit(1)

    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="threads are counted in Linux's /proc")
async def test_the_threads_of_the_embedder_have_its_name(minilm: MiniLMEmbedder) -> None:
    await minilm.load()
    before = _embedder_ticks()

    await minilm.embed(["a text of some length, word after word " * 40] * 24)

    assert _embedder_ticks() > before


def _embedder_ticks() -> int:
    stats = [path.read_text() for path in Path("/proc/self/task").glob("*/stat")]
    return sum(int(stat.rpartition(")")[2].split()[11]) for stat in stats if "(embedder)" in stat)
