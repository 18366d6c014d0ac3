"""The embedded embedder: all-MiniLM-L6-v2 from the files beside this one, run by CTranslate2, without a network."""

import asyncio
import hashlib
import os
import re
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from itertools import chain, groupby
from pathlib import Path
from threading import get_native_id
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from memory.characters import well_formed
from memory.recall.embedders.embedder import EmbeddingRefused, EmbeddingSpace
from memory.recall.lexicon.languages import is_latin

FOLDER = Path(__file__).parent / "all_minilm_l6_v2"
"""The model, made by scripts/build_minilm.py from the published weights. Its README.md says what it holds."""
SUMS = "SHA256SUMS"
_LIBRARY = "ctranslate2"
_DIMENSION = 384
_MAX_TOKENS = 256
"""`max_seq_length` in the model's sentence_bert_config.json."""
_MAX_CHARACTERS = 8_000
"""256 tokens are rarely more than 1,500 characters. To tokenise 2 MB for 256 tokens takes 2 s."""
_BATCH_TOKENS = 256
"""Tokens of a batch. With 512 a text takes 15 % more time."""
_ASCII_DIGIT = re.compile("[0-9]")
THREAD_NAME = "embedder"
"""Name of the embedder's thread in `top -H` and /proc, by which benchmarks/whole_turn.py finds its CPU time."""
_T = TypeVar("_T")


class MiniLMEmbedder:
    """Embeds the first 256 tokens of each text into 384 dimensions, in a thread of its own.

    The model is loaded at the first use, or by `load`, and shared by all instances.
    """

    identity = EmbeddingSpace(model="all-MiniLM-L6-v2", dimension=_DIMENSION, version="3")

    async def load(self) -> None:
        """Load the model now. Raises EmbeddingRefused if CTranslate2 is missing or a file is damaged."""
        await _in_thread(_load)

    def reads(self, text: str) -> bool:
        """Return True for text that is mostly Latin, or has only ASCII digits: the model learned English.

        It understands digits: "1990" is near "what year was he born?". Other scripts and emoji are one unknown token
        to it.
        """
        return is_latin(text) and (any(map(str.isalpha, text)) or _ASCII_DIGIT.search(text) is not None)

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """See `Embedder.embed`. EMBED_FACTS."""
        if not texts:
            return []
        if len(texts) == 1:
            return await _in_thread(partial(self._embed_text, texts[0]))
        tokens = await _in_thread(partial(self._tokenise, texts))
        vectors: list[list[float]] = [[]] * len(texts)
        for batches in plan_calls(list(map(len, tokens))):
            # Several calls, so that a cancelled one stops and a question does not wait for all texts.
            embedded = await _in_thread(partial(self._embed_batches, tokens, batches))
            for index, vector in zip(chain(*batches), embedded, strict=True):
                vectors[index] = vector
        return vectors

    def _tokenise(self, texts: Sequence[str]) -> list[list[int]]:
        tokenizer = _load().tokenizer
        # One at a time: `encode_batch` starts its own threads, which do not survive a fork.
        return [tokenizer.encode(well_formed(text[:_MAX_CHARACTERS])).ids for text in texts]

    def _embed_text(self, text: str) -> list[list[float]]:
        return self._embed_batches(self._tokenise([text]), [[0]])

    def _embed_batches(
        self, tokens: Sequence[Sequence[int]], batches: Sequence[Sequence[int]]
    ) -> list[list[float]]:
        encoder = _load().encoder
        return [vector for batch in batches for vector in encoder.embed([tokens[index] for index in batch])]


def is_installed() -> bool:
    """Return True if CTranslate2 is installed. The model is always there."""
    return find_spec(_LIBRARY) is not None


def plan_calls(lengths: Sequence[int]) -> Iterator[list[list[int]]]:
    """Yield the batches of `plan_batches` in groups of the size of one batch: each call of a thread costs 0.15 ms."""
    call: list[list[int]] = []
    room = _BATCH_TOKENS
    for batch in plan_batches(lengths):
        size = len(batch) * lengths[batch[0]]
        if call and size > room:
            yield call
            call, room = [], _BATCH_TOKENS
        call.append(batch)
        room -= size
    if call:
        yield call


def plan_batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Yield every index of `lengths` once, shortest first, in batches of one length and bounded size."""
    in_order = sorted(range(len(lengths)), key=lengths.__getitem__)
    for length, same in groupby(in_order, key=lengths.__getitem__):
        alike = list(same)
        size = max(1, _BATCH_TOKENS // length)
        yield from (alike[start : start + size] for start in range(0, len(alike), size))


class BertEncoder:
    """The encoder in memory, with one thread, which a fork loses. Concurrent calls wait for each other."""

    def __init__(self, folder: Path) -> None:
        # Imported here: it takes 11 MB, and only processes that embed need it.
        import ctranslate2  # pyright: ignore[reportMissingTypeStubs] - it has none

        library: Any = ctranslate2
        self._encoder = library.Encoder(str(folder), device="cpu", intra_threads=1)

    def embed(self, ids: Sequence[Sequence[int]]) -> list[list[float]]:
        """Return the mean of the last layer over the tokens of each text, at unit length.

        All texts have the same number of tokens: padding changes how CTranslate2 4.8 rounds, by up to 0.006 in a
        component.
        """
        hidden: NDArray[np.float32] = np.asarray(self._encoder.forward_batch(ids).last_hidden_state)
        pooled = hidden.sum(axis=1)
        pooled /= np.linalg.norm(pooled, axis=1, keepdims=True)
        return pooled.tolist()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Model:
    tokenizer: Tokenizer
    encoder: BertEncoder
    process_id: int


_model: _Model | None = None
"""The model of this process."""


def _name_thread() -> None:
    with suppress(OSError):  # only Linux has this file
        Path(f"/proc/self/task/{get_native_id()}/comm").write_text(THREAD_NAME, "ascii")


_thread = ThreadPoolExecutor(max_workers=1, initializer=_name_thread)
"""The one thread that loads and calls the model. CTranslate2's own thread inherits its name."""


async def _in_thread(call: Callable[[], _T]) -> _T:
    """Run a call in the embedder's thread. Raises EmbeddingRefused in a forked process, which has lost the thread."""
    if _model is not None and _model.process_id != os.getpid():
        raise EmbeddingRefused("the embedder was loaded before this process was forked")
    return await asyncio.get_running_loop().run_in_executor(_thread, call)


def _load() -> _Model:
    global _model
    if _model is None:
        _model = _read_model(FOLDER)
    return _model


def _read_model(folder: Path) -> _Model:
    if not is_installed():
        raise EmbeddingRefused(f"{_LIBRARY} is not installed: pip install {_LIBRARY}")
    if damaged := damaged_files(folder):
        raise EmbeddingRefused(
            f"the embedded embedder is damaged ({', '.join(damaged)}): install mnemogram again"
        )
    try:
        tokenizer, encoder = Tokenizer.from_file(str(folder / "tokenizer.json")), BertEncoder(folder)
    except (ImportError, OSError, RuntimeError, ValueError) as error:  # CTranslate2 raises the last two
        raise EmbeddingRefused(f"the embedded embedder cannot be loaded: {error}") from error
    tokenizer.no_padding()
    tokenizer.enable_truncation(_MAX_TOKENS)  # pyright: ignore[reportUnknownMemberType] - untyped **kwargs
    return _Model(tokenizer=tokenizer, encoder=encoder, process_id=os.getpid())


def damaged_files(folder: Path) -> list[str]:
    """Return the names of files that are missing or differ from their SHA-256 in SUMS."""
    try:
        lines = (folder / SUMS).read_text("ascii").splitlines()
    except (OSError, ValueError):
        lines = []
    sums = {name: digest for digest, _, name in (line.partition("  ") for line in lines)}
    return [name for name, digest in sums.items() if _sha256(folder / name) != digest] if sums else [SUMS]


def _sha256(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""
