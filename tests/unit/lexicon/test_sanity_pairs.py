"""The sanity pairs: chat messages in six languages, found by words alone among twenty of their language."""

import json
import math
from collections import Counter
from pathlib import Path

import pytest

from memory.recall.lexicon.analyser import analyse_message, analyse_question

PAIRS: dict[str, list[dict[str, str]]] = json.loads(
    (Path(__file__).parents[3] / "benchmarks" / "sanity_pairs.json").read_text("utf-8")
)["languages"]


def ranks(pairs: list[dict[str, str]]) -> list[int]:
    """Return for each pair the number of other statements that score at least as well; all if it scores nothing."""
    vectors = [analyse_message(pair["statement"], {}).terms for pair in pairs]
    messages = [dict(zip(vector.indices, vector.values, strict=True)) for vector in vectors]
    having = Counter(index for message in messages for index in message)
    found: list[int] = []
    for place, pair in enumerate(pairs):
        terms = analyse_question(pair["question"], {}, asker_id=None, now=0.0).terms
        weights = {
            index: weight * math.log(1 + (len(pairs) - having[index] + 0.5) / (having[index] + 0.5))
            for index, weight in zip(terms.indices, terms.values, strict=True)
        }
        scores = [sum(weights.get(index, 0) * value for index, value in each.items()) for each in messages]
        better = sum(score >= scores[place] for score in scores) - 1
        found.append(better if scores[place] > 0 else len(pairs))
    return found


def test_each_of_six_languages_has_twenty_pairs() -> None:
    assert {language: len(pairs) for language, pairs in PAIRS.items()} == dict.fromkeys(
        ("en", "ru", "es", "de", "fa", "zh"), 20
    )
    assert len({pair["question"] for pairs in PAIRS.values() for pair in pairs}) == 120


@pytest.mark.parametrize(
    ("language", "first", "among_three"),
    [("en", 16, 17), ("ru", 19, 19), ("es", 19, 19), ("de", 17, 19), ("fa", 17, 19), ("zh", 18, 19)],
)
def test_most_statements_are_found_by_words_alone(language: str, first: int, among_three: int) -> None:
    better = ranks(PAIRS[language])

    assert sum(each < 1 for each in better) >= first
    assert sum(each < 3 for each in better) >= among_three
