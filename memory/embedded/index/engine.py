"""The door to qdrant-edge: its errors get our names, its shard its settings."""

import contextlib
import os
import sys
import traceback
from collections.abc import Generator
from pathlib import Path

import qdrant_edge as edge

from memory.embedded.index.failures import BadRequest, EngineFailed, NotFound, RequestRefused
from memory.embedded.index.requests import CreateCollection, DenseParams, SparseParams

_DISTANCES = {
    "Cosine": edge.Distance.Cosine,
    "Dot": edge.Distance.Dot,
    "Euclid": edge.Distance.Euclid,
    "Manhattan": edge.Distance.Manhattan,
}
# The engine raises plain Exception; only the text says what it is (qdrant-edge-py 0.9.0).
_REFUSALS: dict[str, type[RequestRefused]] = {
    "No point with id": NotFound,
    "Not existing vector name": BadRequest,
    "Vector dimension error": BadRequest,
    "Wrong usage of": BadRequest,
    "Validation failed": BadRequest,
}


@contextlib.contextmanager
def asking_engine() -> Generator[None]:
    """Give what the engine raises its name. A panic of the engine ends the process: its locks may be
    poisoned, and whoever guards us starts it afresh from the log of writes.
    """
    try:
        yield
    except RequestRefused:
        raise
    except (ValueError, TypeError, OverflowError) as error:
        raise BadRequest(f"Wrong input: {error}") from error
    except Exception as error:
        raise _named(error) from error
    except BaseException as error:
        if type(error).__name__ == "PanicException":
            traceback.print_exc(file=sys.stderr)
            os._exit(70)
        raise


def create_shard(path: Path, settings: CreateCollection) -> edge.EdgeShard:
    """A new shard in a folder that is made for it."""
    path.mkdir(parents=True)
    with asking_engine():
        return edge.EdgeShard.create(str(path), _config(settings))


def load_shard(path: Path, settings: CreateCollection) -> edge.EdgeShard:
    """The shard of a folder, with every write that its log holds."""
    with asking_engine():
        return edge.EdgeShard.load(str(path), _config(settings))


def _config(settings: CreateCollection) -> edge.EdgeConfig:
    """Nothing about optimizers, as none is ever run: a graph is not needed (comparing with every point of one tenant is
    exact and takes 0.2 ms among 20,000), and what was deleted is left behind by a vacuum.
    """
    dense = settings.vectors or {}
    named = {"": dense} if isinstance(dense, DenseParams) else dense
    return edge.EdgeConfig(
        vectors={name: _dense(params) for name, params in named.items()},
        sparse_vectors={name: _sparse(params) for name, params in (settings.sparse_vectors or {}).items()},
    )


def _dense(params: DenseParams) -> edge.EdgeVectorParams:
    return edge.EdgeVectorParams(size=params.size, distance=_DISTANCES[params.distance])


def _sparse(params: SparseParams) -> edge.EdgeSparseVectorParams:
    return edge.EdgeSparseVectorParams(modifier=edge.Modifier.Idf if params.modifier == "idf" else None)


def _named(error: Exception) -> RequestRefused:
    text = str(error)
    for start, kind in _REFUSALS.items():
        if text.startswith(start):
            return kind(f"Not found: {text}" if kind is NotFound else f"Wrong input: {text}")
    return EngineFailed(f"Service internal error: {text}")
