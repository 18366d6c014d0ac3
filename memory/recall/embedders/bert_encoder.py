"""A BERT sentence encoder on CTranslate2: the weights of a checkpoint in int8, and their forward pass."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open

Array: TypeAlias = NDArray[np.float32]
_BLOCK_ROWS = 512
"""Rows read at a time: at most 3 MB in float32."""
_EMBEDDINGS = "embeddings"
_open = cast("Callable[..., AbstractContextManager[Any]]", safe_open)  # its stub has no types


@dataclass(frozen=True, slots=True, kw_only=True)
class BertShape:
    """Sizes of the layers, from a checkpoint's config.json."""

    layers: int
    heads: int
    hidden: int
    intermediate: int
    vocabulary: int
    positions: int
    segments: int
    layer_norm_epsilon: float


class BertEncoder:
    """A saved encoder in memory, with one thread, which a fork loses. Concurrent calls wait for each other."""

    def __init__(self, folder: Path) -> None:
        self._encoder = _library().Encoder(str(folder), device="cpu", intra_threads=1)

    def embed(self, ids: Sequence[Sequence[int]]) -> list[list[float]]:
        """Return the mean of the last layer over the tokens of each text, at unit length.

        All texts have the same number of tokens: padding changes how CTranslate2 4.8 rounds, by up to 0.006 in a
        component.
        """
        hidden: Array = np.asarray(self._encoder.forward_batch(ids).last_hidden_state)
        pooled = hidden.sum(axis=1)
        pooled /= np.linalg.norm(pooled, axis=1, keepdims=True)
        return pooled.tolist()


def library_version() -> str:
    """Return the version of CTranslate2, which defines the format of a saved encoder."""
    return _library().__version__


def _library() -> Any:
    # Imported here: it takes 11 MB, and only processes that embed need it.
    import ctranslate2  # pyright: ignore[reportMissingTypeStubs] - it has none

    return ctranslate2


def read_checkpoint(path: Path, shape: BertShape) -> "EncoderModel":
    """Read every tensor that the forward pass needs; others, such as a pooler, are ignored.

    Raises ValueError, naming the tensor, if the file is damaged or of another shape. Raises OSError if it cannot be
    read.
    """
    try:
        return EncoderModel(_Checkpoint(path, shape))
    except SafetensorError as error:
        raise ValueError(str(error)) from error


class EncoderModel:
    """A checkpoint in the layout of CTranslate2."""

    def __init__(self, checkpoint: "_Checkpoint") -> None:
        specs, shape = _library().specs, checkpoint.shape
        encoder = specs.TransformerEncoderSpec(
            shape.layers,
            shape.heads,
            pre_norm=False,
            activation=specs.Activation.GELU,
            layernorm_embedding=True,
        )
        encoder.scale_embeddings = False
        _fill_embeddings(encoder, checkpoint)
        for number, layer in enumerate(encoder.layer):
            _fill_layer(layer, f"encoder.layer.{number}", checkpoint)
        self._spec = specs.TransformerEncoderModelSpec(encoder)
        # The library requires names of tokens. We pass numbers, and the tokenizer has the names.
        tokens = [str(number) for number in range(shape.vocabulary)]
        self._spec.register_vocabulary(tokens)
        self._spec.config.unk_token = tokens[0]
        self._spec.config.layer_norm_epsilon = shape.layer_norm_epsilon
        self._spec.validate()

    def save(self, folder: Path) -> None:
        """Write the files that `BertEncoder` opens."""
        self._spec.save(str(folder))


def quantise(rows: Array) -> tuple[NDArray[np.int8], Array]:
    """Quantise each row symmetrically: return its values, -127 to 127, and the factor that made them."""
    largest = np.abs(rows).max(axis=1)
    scales = np.where(largest > 0, 127 / np.where(largest > 0, largest, 1), 1).astype(np.float32)
    return np.rint(rows * scales[:, None]).astype(np.int8), scales


@dataclass(frozen=True, slots=True)
class _Checkpoint:
    path: Path
    shape: BertShape

    def matrix(self, name: str, rows: int, columns: int) -> tuple[NDArray[np.int8], Array]:
        """Read a large matrix block by block, in int8."""
        values = np.empty((rows, columns), np.int8)
        scales = np.empty(rows, np.float32)
        for start in range(0, rows, _BLOCK_ROWS):
            block = slice(start, min(start + _BLOCK_ROWS, rows))
            values[block], scales[block] = quantise(self.array(name, (rows, columns), block))
        return values, scales

    def array(self, name: str, shape: tuple[int, ...], rows: slice = slice(None)) -> Array:
        """Read a tensor, or some of its rows, in float32."""
        # Opened for each tensor: pages of a mapped file count as our memory until it is closed, in the end all 90 MB.
        with _open(self.path, framework="numpy") as file:
            stored = file.get_slice(name)
            kind, stored_shape = stored.get_dtype(), tuple(stored.get_shape())
            if kind != "F32" or stored_shape != shape:
                raise ValueError(f"{name} is {kind} {stored_shape}, not F32 {shape}")
            values: Array = stored[rows]
        if not np.isfinite(values).all():
            raise ValueError(f"{name} has values that are not finite")
        return values


def _fill_embeddings(encoder: Any, checkpoint: _Checkpoint) -> None:
    shape = checkpoint.shape
    words = checkpoint.matrix(f"{_EMBEDDINGS}.word_embeddings.weight", shape.vocabulary, shape.hidden)
    encoder.embeddings[0].weight, encoder.embeddings[0].weight_scale = words
    positions = checkpoint.array(f"{_EMBEDDINGS}.position_embeddings.weight", (shape.positions, shape.hidden))
    segments = checkpoint.array(f"{_EMBEDDINGS}.token_type_embeddings.weight", (shape.segments, shape.hidden))
    # Every text is one segment, the first.
    encoder.position_encodings.encodings = positions + segments[0]
    _fill_norm(encoder.layernorm_embedding, f"{_EMBEDDINGS}.LayerNorm", checkpoint)


def _fill_layer(layer: Any, name: str, checkpoint: _Checkpoint) -> None:
    hidden, wide = checkpoint.shape.hidden, checkpoint.shape.intermediate
    attention = f"{name}.attention"
    projections = [f"{attention}.self.{part}" for part in ("query", "key", "value")]
    _fill_linear(layer.self_attention.linear[0], projections, checkpoint, rows=hidden, columns=hidden)
    mixed = [f"{attention}.output.dense"]
    _fill_linear(layer.self_attention.linear[1], mixed, checkpoint, rows=hidden, columns=hidden)
    _fill_norm(layer.self_attention.layer_norm, f"{attention}.output.LayerNorm", checkpoint)
    widened, narrowed = [f"{name}.intermediate.dense"], [f"{name}.output.dense"]
    _fill_linear(layer.ffn.linear_0, widened, checkpoint, rows=wide, columns=hidden)
    _fill_linear(layer.ffn.linear_1, narrowed, checkpoint, rows=hidden, columns=wide)
    _fill_norm(layer.ffn.layer_norm, f"{name}.output.LayerNorm", checkpoint)


def _fill_linear(
    linear: Any, names: Sequence[str], checkpoint: _Checkpoint, *, rows: int, columns: int
) -> None:
    """Fill one layer with the weights and biases of these, one below the other."""
    matrices = [checkpoint.matrix(f"{name}.weight", rows, columns) for name in names]
    linear.weight = np.concatenate([values for values, _ in matrices])
    linear.weight_scale = np.concatenate([scales for _, scales in matrices])
    linear.bias = np.concatenate([checkpoint.array(f"{name}.bias", (rows,)) for name in names])


def _fill_norm(norm: Any, name: str, checkpoint: _Checkpoint) -> None:
    norm.gamma = checkpoint.array(f"{name}.weight", (checkpoint.shape.hidden,))
    norm.beta = checkpoint.array(f"{name}.bias", (checkpoint.shape.hidden,))
