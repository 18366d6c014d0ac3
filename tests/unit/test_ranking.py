"""Ranking: the features of messages, their order, and the floor."""

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memory.recall.excerpts import Reason
from memory.recall.lexicon.analyser import ASKS
from memory.recall.lexicon.analysis import BOT, DateSpan, QuestionAnalysis, QuestionWord, SparseVector
from memory.recall.ranking import (
    BEST,
    FEATURES,
    HYBRID_FEATURES,
    LEXICAL_FEATURES,
    SHORTLIST,
    Floor,
    RankerWeights,
    Ranking,
    compute_features,
    explain,
    load_weights,
    measure_talk,
    plan_lookups,
    rank,
    select_relevant,
    shortlist,
)
from memory.recall.vector_index import Hit, Where
from tests.fakes.vector_index import ScoredMessage, tabulate

DAY = 86_400.0
FLOOR = Floor(base=0.0, growth=0.0, many=1000, coverage=0.0, meaning=0.0, talk=0.0, margin=1.0, spread=100.0)


ASKING = frozenset({ASKS})
"""The sign of a question."""


def make_question(*terms: int, **changed: Any) -> QuestionAnalysis:
    """Return a question with these terms, each with weight 1."""
    question = QuestionAnalysis(
        masked="text",
        terms=SparseVector(indices=terms, values=tuple(1.0 for _ in terms)),
        signs=frozenset(),
        dates=(),
    )
    return replace(question, **changed)


def make_message(sequence: int, **changed: Any) -> ScoredMessage:
    message = ScoredMessage(
        message_id=f"m{sequence}",
        sequence=sequence,
        session=0,
        role="user",
        sender_id=1,
        sent_at=60.0 * sequence,
        signs=frozenset(),
        dense=None,
        sparse=0.0,
    )
    return replace(message, **changed)


def features_of(
    question: QuestionAnalysis, *messages: ScoredMessage, listed: set[int] | None = None
) -> list[dict[str, float]]:
    """Return the features that are not 0 for each message. All are on the shortlist unless `listed` says otherwise."""
    found = {each.sequence for each in messages} if listed is None else listed
    rows: list[list[float]] = compute_features(
        question, tabulate(messages, question.terms.indices), listed=found
    ).tolist()
    return [{name: value for name, value in zip(FEATURES, row, strict=True) if value} for row in rows]


def column(
    name: str, question: QuestionAnalysis, *messages: ScoredMessage, listed: set[int] | None = None
) -> list[float]:
    return [row.get(name, 0.0) for row in features_of(question, *messages, listed=listed)]


def signed(sequence: int, *signs: str, **changed: Any) -> ScoredMessage:
    return make_message(sequence, signs=frozenset(signs), **changed)


def weights(**counted: float) -> RankerWeights:
    return RankerWeights(
        hybrid=counted,
        in_long_talk={},
        for_statements={},
        for_new_words={},
        lexical=counted,
        hybrid_floor=FLOOR,
        lexical_floor=FLOOR,
    )


def order(question: QuestionAnalysis, *messages: ScoredMessage, **counted: float) -> list[str]:
    listed = {each.sequence for each in messages}
    ranking = rank(
        question, tabulate(messages, question.terms.indices), listed=listed, weights=weights(**counted)
    )
    return [each.message_id for each in ranking.best(len(messages))]


def test_the_words_feature_is_a_share_of_the_best_and_a_logarithm() -> None:
    messages = [make_message(1, sparse=4.0), make_message(2, sparse=1.0), make_message(3)]
    assert column("words", make_question(), *messages) == [1.0, 0.25, 0.0]
    assert column("words_log", make_question(), *messages) == pytest.approx([math.log(5), math.log(2), 0.0])


def test_the_meaning_feature_is_the_cosine() -> None:
    messages = [make_message(1, dense=0.5), make_message(2, dense=-0.1), make_message(3)]
    assert column("meaning", make_question(), *messages) == [0.5, -0.1, 0.0]


def test_words_stand_for_the_meaning_of_a_message_that_the_embedder_cannot_read() -> None:
    messages = [make_message(1, dense=0.4, sparse=1.0), make_message(2, sparse=4.0)]
    assert column("meaning", make_question(), *messages) == [0.4, 0.5]


def test_the_window_feature_adds_neighbours_with_less_weight_per_step() -> None:
    messages = [make_message(number) for number in range(1, 6)]
    messages[0] = make_message(1, terms=frozenset({7}))
    rarity = math.log(1 + 4.5 / 1.5)  # one of five has it
    expected = [rarity, 0.9 * rarity, 0.81 * rarity, 0.0, 0.0]
    assert column("window", make_question(7), *messages) == pytest.approx([each / 10 for each in expected])


def test_the_window_feature_takes_the_nearest_message_for_each_term() -> None:
    messages = [make_message(1, terms=frozenset({7, 8})), make_message(2, terms=frozenset({7}))]
    both, one = math.log(1 + 0.5 / 2.5), math.log(1 + 1.5 / 1.5)
    assert column("window", make_question(7, 8), *messages) == pytest.approx(
        [(both + one) / 10, (both + 0.9 * one) / 10]
    )


def test_a_term_that_weighs_less_in_the_question_counts_less() -> None:
    question = make_question(terms=SparseVector(indices=(7,), values=(0.25,)))
    (value,) = column("window", question, make_message(1, terms=frozenset({7})))
    assert value == pytest.approx(0.25 * math.log(1 + 0.5 / 1.5) / 10)


def test_the_rarity_of_a_term_is_counted_among_the_hits() -> None:
    messages = [make_message(1, terms=frozenset({7})), make_message(2, terms=frozenset({7})), make_message(9)]
    among_one = column("window", make_question(7), *messages, listed={1})
    among_all = column("window", make_question(7), *messages)
    assert among_one[0] == pytest.approx(math.log(1 + 0.5 / 1.5) / 10)
    assert among_all[0] == pytest.approx(math.log(1 + 1.5 / 2.5) / 10)


def test_a_message_of_another_session_is_no_neighbour() -> None:
    messages = [
        make_message(1, terms=frozenset({7}), signs=frozenset({"asks"})),
        make_message(2, session=2, sender_id=2),
    ]
    assert features_of(make_question(7), *messages)[1].keys() == {"length"}


def test_a_deleted_message_between_two_keeps_them_two_steps_apart() -> None:
    messages = [make_message(1, terms=frozenset({7})), make_message(3)]
    first, second = column("window", make_question(7), *messages)
    assert second == pytest.approx(0.81 * first)


def test_a_session_shares_its_best_score() -> None:
    messages = [
        make_message(1, session=1, dense=0.2, sparse=1.0),
        make_message(2, session=1, dense=0.6, sparse=4.0),
        make_message(3, session=3, dense=0.1, sparse=2.0),
    ]
    assert column("session_meaning", make_question(), *messages) == [0.6, 0.6, 0.1]
    assert column("session_words", make_question(), *messages) == [1.0, 1.0, 0.5]


def test_an_answer_gets_the_score_of_the_question_before_it() -> None:
    asked = signed(1, "asks", dense=0.7, sparse=3.0, sender_id=2)
    assert column("answers_meaning", make_question(), asked, make_message(2)) == [0.0, 0.7]
    assert column("answers_words", make_question(), asked, make_message(2)) == [0.0, 1.0]


def test_an_answer_of_the_bot_is_a_feature_of_its_own() -> None:
    asked = signed(1, "asks", dense=0.7)
    reply = make_message(2, role="assistant", sender_id=None)
    assert column("answers_meaning", make_question(), asked, reply) == [0.0, 0.0]
    assert column("reply_meaning", make_question(), asked, reply) == [0.0, 0.7]


def with_terms(sequence: int, count: int, **changed: Any) -> ScoredMessage:
    return make_message(sequence, terms=frozenset(range(1_000, 1_000 + count)), **changed)


@pytest.mark.parametrize(("words", "counts"), [(27, True), (28, False)])
def test_long_messages_are_no_neighbours_in_the_window(words: int, *, counts: bool) -> None:
    reply = make_message(
        1, role="assistant", sender_id=None, terms=frozenset({7, *range(1_000, 999 + words)})
    )
    own, of_the_next = column("window", make_question(7), reply, make_message(2))
    assert own > 0
    assert (of_the_next > 0) is counts


def test_a_message_has_the_cosine_of_the_next_one() -> None:
    messages = [make_message(1, dense=0.2), make_message(2, dense=-0.6), make_message(3, dense=0.4)]
    assert column("after_meaning", make_question(), *messages) == [0.0, 0.4, 0.0]


def test_words_and_meaning_are_multiplied() -> None:
    messages = [make_message(1, dense=0.5, sparse=4.0), make_message(2, dense=0.5, sparse=1.0)]
    assert column("words_and_meaning", make_question(), *messages) == [0.5, 0.125]


def test_the_length_feature_is_a_logarithm_with_0_for_ten_terms() -> None:
    messages = [with_terms(1, 10), with_terms(2, 27), make_message(3)]
    assert column("length", make_question(), *messages) == pytest.approx([0.0, math.log(2.7), -math.log(10)])


def test_parts_of_words_do_not_make_a_message_longer() -> None:
    parts = QuestionWord(whole=frozenset({1}), parts=frozenset(range(2, 6)))
    question = make_question(*range(1, 6), words=(parts,))
    assert column("length", question, with_terms(1, 50)) == pytest.approx([0.0])


def test_talk_has_the_mean_length_of_its_messages_within_bounds() -> None:
    def length(*counts: int) -> float:
        rows = [with_terms(number, count) for number, count in enumerate(counts)]
        return measure_talk(make_question(), tabulate(rows))

    assert length(10, 270) == pytest.approx(math.log(27) / 2)
    assert length(2, 3) == 0.0
    assert length(*[500] * 3) == 2.5


@pytest.mark.parametrize(
    "before",
    [
        make_message(1, dense=0.7, sender_id=2),  # it asks nothing
        signed(1, "asks", dense=0.7, sender_id=1),  # one's own question
        signed(0, "asks", dense=0.7, sender_id=2),  # not the one before
        signed(1, "asks", dense=0.7, sender_id=2, session=1),  # of another stretch
    ],
)
def test_other_messages_get_no_score_of_a_question(before: ScoredMessage) -> None:
    assert column("answers_meaning", make_question(), before, make_message(2)) == [0.0, 0.0]


def test_a_question_by_the_assistant_counts_as_by_another_person() -> None:
    asked = signed(1, "asks", dense=0.7, role="assistant", sender_id=None)
    assert column("answers_meaning", make_question(), asked, make_message(2, sender_id=None))[1] == 0.7


def test_a_message_by_the_wanted_author_counts_and_more_in_the_first_person() -> None:
    question = make_question(author=1)
    messages = [
        signed(1, "first_person"),
        signed(2),
        signed(3, "first_person", sender_id=2),
        make_message(4, sender_id=None),
    ]
    assert column("author", question, *messages) == [1.0, 1.0, 0.0, 0.0]
    assert column("author_of_self", question, *messages) == [1.0, 0.0, 0.0, 0.0]


def test_the_bots_messages_count_if_it_is_the_wanted_author() -> None:
    messages = [make_message(1, role="assistant", sender_id=None), make_message(2, sender_id=None)]
    assert column("author", make_question(author=BOT), *messages) == [1.0, 0.0]


def test_without_a_wanted_author_no_message_gets_this_feature() -> None:
    assert column("author", make_question(), make_message(1, role="assistant", sender_id=None)) == [0.0]


@pytest.mark.parametrize(
    ("days", "sent_on", "nearness"),
    [
        ((10, 11), 10.5, 1.0),
        ((10, 11), 18.0, math.exp(-1)),
        ((10, 11), 3.0, math.exp(-1)),
        ((0, 31), 30.9, 1.0),
        ((0, 31), 31.5, 0.0),
        ((0, 365), 100.0, 0.0),
    ],
    ids=["within a day", "after", "before", "within a month", "outside a month", "a year says nothing"],
)
def test_the_date_feature_is_near_or_not(days: tuple[int, int], sent_on: float, nearness: float) -> None:
    question = make_question(dates=(DateSpan(start=DAY * days[0], end=DAY * days[1]),))
    assert column("date", question, make_message(1, sent_at=DAY * sent_on)) == pytest.approx([nearness])


def test_the_nearest_of_several_dates_counts() -> None:
    dates = (DateSpan(start=0.0, end=DAY), DateSpan(start=30 * DAY, end=31 * DAY))
    assert column("date", make_question(dates=dates), make_message(1, sent_at=30.5 * DAY)) == [1.0]


@pytest.mark.parametrize(
    ("asked", "told", "feature"), [("when", "time", "tells_time"), ("name", "name", "tells_name")]
)
def test_requested_kinds_of_content_count(asked: str, told: str, feature: str) -> None:
    messages = [signed(1, told), signed(2)]
    assert column(feature, make_question(signs=frozenset({asked})), *messages) == [1.0, 0.0]
    assert column(feature, make_question(), *messages) == [0.0, 0.0]


def test_questions_among_the_messages_are_recognised() -> None:
    assert column("question", make_question(), signed(1, "question"), signed(2)) == [1.0, 0.0]


def test_without_vectors_all_meaning_features_are_empty() -> None:
    messages = [signed(1, "asks", sparse=2.0, sender_id=2), make_message(2, sparse=1.0)]
    told = {name for row in features_of(make_question(7), *messages) for name in row}
    assert not [name for name in told if "meaning" in name]


def test_every_feature_belongs_to_one_or_both_sets() -> None:
    assert set(HYBRID_FEATURES) | set(LEXICAL_FEATURES) == set(FEATURES)


def test_the_best_comes_first_and_of_equals_the_newer() -> None:
    messages = [make_message(1, sparse=1.0), make_message(2, sparse=4.0), make_message(3, sparse=1.0)]
    assert order(make_question(), *messages, words=1.0) == ["m2", "m3", "m1"]


def test_without_vectors_the_weights_for_words_are_used() -> None:
    counted = replace(weights(words=1.0), lexical={"words": 5.0})
    lexical, hybrid = (
        rank(make_question(), tabulate([message]), listed={1}, weights=counted).scores.tolist()
        for message in (make_message(1, sparse=1.0), make_message(1, sparse=1.0, dense=0.0))
    )
    assert (lexical, hybrid) == ([5.0], [1.0])


def test_weights_bend_with_the_length_of_talk() -> None:
    near, alike = {"sparse": 4.0, "dense": 0.0}, {"sparse": 0.0, "dense": 0.8}
    bent = replace(weights(words=1.0), in_long_talk={"meaning": 2.0})

    def first(terms: int) -> str:
        rows = [with_terms(1, terms, **near), with_terms(2, terms, **alike)]
        ranking = rank(make_question(signs=ASKING), tabulate(rows), listed={1, 2}, weights=bent)
        return ranking.best(1)[0].message_id

    assert (first(10), first(100)) == ("m1", "m2")


def test_a_text_that_asks_nothing_has_weights_of_its_own() -> None:
    rows = [make_message(1, sparse=4.0, dense=0.0), make_message(2, dense=0.8)]
    stated = replace(weights(words=1.0), for_statements={"words": -1.0, "meaning": 1.0})

    def first(signs: frozenset[str]) -> str:
        ranking = rank(make_question(signs=signs), tabulate(rows), listed={1, 2}, weights=stated)
        return ranking.best(1)[0].message_id

    assert (first(ASKING), first(frozenset())) == ("m1", "m2")


def test_an_empty_list_stays_empty() -> None:
    ranking = rank(make_question(7), tabulate([], [7]), listed=set(), weights=weights(words=1.0))
    assert ranking.best(5) == []
    assert select_relevant(make_question(7), ranking, weights=weights()).best(5) == []


def test_a_chat_of_one_message_has_a_score() -> None:
    message = make_message(0, dense=0.6, sparse=0.5, terms=frozenset({7}))
    ranking = rank(make_question(7), tabulate([message], [7]), listed={0}, weights=load_weights())
    assert np.isfinite(ranking.scores).tolist() == [True]


def reasons_of(question: QuestionAnalysis, *messages: ScoredMessage) -> dict[str, tuple[Reason, ...]]:
    """Return the reasons of each message by its id, with the weights that we ship."""
    counted = load_weights()
    ranking = rank(
        question,
        tabulate(messages, question.terms.indices),
        listed={each.sequence for each in messages},
        weights=counted,
    )
    hits = ranking.best(len(messages))
    explained = explain(hits, question, ranking)
    assert [hit._replace(reasons=()) for hit in explained] == hits, "scores and order stay the same"
    return {hit.message_id: hit.reasons for hit in explained}


def test_a_hit_has_the_kinds_of_evidence_that_the_message_itself_has() -> None:
    asked = replace(ASKED, author=2, dates=(DateSpan(start=0.0, end=DAY),))
    unrelated = [make_message(100 + 10 * n, dense=0.1, sent_at=90 * DAY) for n in range(20)]
    found = reasons_of(
        asked,
        make_message(1, terms=HAVING, sparse=9.0, dense=0.1, sent_at=90 * DAY),
        make_message(11, dense=0.9, sent_at=90 * DAY),
        make_message(21, dense=0.1, sent_at=60.0),
        make_message(31, dense=0.1, sent_at=90 * DAY, sender_id=2),
        *unrelated,
    )
    assert (found["m1"], found["m11"], found["m21"], found["m31"]) == (
        ("words",),
        ("meaning",),
        ("date",),
        ("writer",),
    )


def test_several_reasons_come_in_the_order_of_their_share_of_the_score() -> None:
    asked = replace(ASKED, author=2, dates=(DateSpan(start=0.0, end=DAY),))
    hit = make_message(1, dense=0.9, sent_at=60.0, sender_id=2)
    unrelated = [make_message(100 + 10 * n, dense=0.1, sent_at=90 * DAY, session=n) for n in range(20)]
    assert reasons_of(asked, hit, *unrelated)["m1"] == ("meaning", "date", "writer")


def test_without_vectors_no_hit_is_found_by_meaning() -> None:
    found = reasons_of(ASKED, make_message(1, terms=HAVING, sparse=9.0), make_message(11))
    assert found["m1"] == ("words",)


def test_a_hit_without_evidence_of_its_own_has_the_kind_that_gave_most_of_its_score() -> None:
    asks = make_message(1, terms=HAVING, sparse=9.0, dense=0.1, signs=frozenset({ASKS}))
    reply = make_message(2, dense=0.1, sender_id=2)
    unrelated = [make_message(100 + 10 * n, dense=0.1, session=n) for n in range(20)]
    assert reasons_of(ASKED, asks, reply, *unrelated)["m2"] == ("words",)


def test_nothing_found_has_no_reasons() -> None:
    assert reasons_of(ASKED) == {}


def make_hit(sequence: int, *, dense: float | None = None, sparse: float = 0.0) -> Hit:
    return Hit(sequence, dense, sparse)


def test_the_shortlist_alternates_between_both_lists_without_repetitions() -> None:
    found = [
        make_hit(1, sparse=9.0),
        make_hit(2, sparse=8.0, dense=0.9),
        make_hit(3, dense=0.5),
        make_hit(4, sparse=1.0),
        make_hit(5, sparse=9.0),
    ]
    assert shortlist(found) == [5, 2, 1, 3, 4]
    assert shortlist([]) == []


def test_the_shortlist_is_bounded_and_one_list_alone_can_fill_it() -> None:
    words = [make_hit(number, sparse=1.0 + number) for number in range(150)]
    meanings = [make_hit(200 + number, dense=number / 200) for number in range(150)]
    assert len(shortlist([*words, *meanings])) == len(shortlist(words)) == SHORTLIST
    assert set(shortlist(words)) == set(range(50, 150))
    both = shortlist([*words, *meanings])
    assert sum(sequence < 200 for sequence in both) == SHORTLIST / 2


def test_neighbours_of_the_best_are_looked_up_also_below_zero() -> None:
    assert plan_lookups([1, 7, 8]) == {-1, 0, 1, 2, 3, 5, 6, 7, 8, 9, 10}
    best = range(1_000, 1_000 + BEST)
    assert plan_lookups([*best, 5, 50]) == {5, 50, *range(998, 1_002 + BEST)}
    assert plan_lookups([]) == set()


def ranked(
    messages: Sequence[ScoredMessage], scores: Sequence[float], *asked: int, hybrid: Mapping[str, float] = {}
) -> Ranking:
    """Rank the first of these messages by these scores. `asked` are the terms of the question."""
    return Ranking(
        messages=tabulate(messages, asked),
        rows=np.arange(len(scores)),
        scores=np.array(scores, np.float64),
        features=np.zeros((len(messages), len(FEATURES))),
        weights=np.array([hybrid.get(name, 0.0) for name in FEATURES]),
    )


HAVING = frozenset({7})
"""Return the terms of a message that has the word of ASKED."""
ASKED = make_question(7, signs=ASKING, words=(QuestionWord(whole=HAVING, parts=frozenset()),))


def selected(
    question: QuestionAnalysis, scores: Sequence[float], weighted: RankerWeights, *messages: ScoredMessage
) -> list[float]:
    """Return the scores of the relevant ones."""
    ranking = ranked(messages, scores, *question.terms.indices, hybrid=weighted.hybrid)
    return select_relevant(question, ranking, weights=weighted).scores.tolist()


def test_nothing_is_relevant_if_the_best_is_below_the_floor() -> None:
    floored = replace(
        weights(),
        lexical_floor=Floor(
            base=5.0, growth=0.0, many=1000, coverage=0.0, meaning=0.0, talk=0.0, margin=2.0, spread=100.0
        ),
    )
    messages = [make_message(number, terms=HAVING) for number in range(3)]
    assert selected(ASKED, [6.0, 3.0, 2.9], floored, *messages) == [6.0, 3.0]
    assert selected(ASKED, [4.9, 4.0], floored, *messages) == []
    assert selected(ASKED, [], floored, *messages) == []


def test_without_vectors_a_hit_needs_shared_words_or_a_named_date() -> None:
    word = QuestionWord(whole=frozenset({1}), parts=frozenset(range(2, 12)))
    question = make_question(*range(1, 12), words=(word, word))

    def is_selected(asked: QuestionAnalysis, *terms: int) -> bool:
        return bool(selected(asked, [6.0], weights(), make_message(1, terms=frozenset(terms))))

    assert is_selected(question, 1)
    assert is_selected(question, 2, 3, 4, 5)
    assert not is_selected(question, 2, 3, 4)
    assert not is_selected(question)
    assert not is_selected(replace(question, words=()), 1)
    assert is_selected(replace(question, dates=(DateSpan(start=0.0, end=DAY),)))


def test_one_of_the_best_hits_needs_a_fifth_of_the_words() -> None:
    words = tuple(QuestionWord(whole=frozenset({each}), parts=frozenset()) for each in range(5))
    question = make_question(*range(5), words=words)
    others = [make_message(number) for number in range(4)]
    fifth, sixth = make_message(4, terms=frozenset({3})), make_message(5, terms=frozenset({3}))
    assert selected(question, [6.0] * 5, weights(), *others, fifth) == [6.0] * 5
    assert selected(question, [6.0] * 6, weights(), *others, make_message(4), sixth) == []


def test_bare_words_find_messages_with_all_of_them_below_the_floor() -> None:
    two = (*ASKED.words, QuestionWord(whole=frozenset({8}), parts=frozenset()))
    bare = make_question(7, 8, words=two, signs=frozenset({"bare"}))
    floored = replace(
        weights(),
        lexical_floor=Floor(
            base=5.0, growth=0.0, many=1000, coverage=0.0, meaning=0.0, talk=0.0, margin=2.0, spread=100.0
        ),
    )
    messages = make_message(1, terms=frozenset({7})), make_message(2, terms=frozenset({7, 8}))
    assert selected(bare, [4.0, 3.0], floored, *messages) == [3.0]
    assert selected(replace(bare, signs=frozenset()), [4.0, 3.0], floored, *messages) == []


def test_if_the_index_has_other_terms_bare_words_find_nothing_below_the_floor() -> None:
    bare = replace(ASKED, signs=frozenset({"bare"}))
    floored = replace(
        weights(),
        hybrid_floor=Floor(
            base=5.0, growth=0.0, many=1000, coverage=0.0, meaning=0.0, talk=0.0, margin=1.0, spread=100.0
        ),
    )
    ranking = ranked([make_message(1, dense=0.1)], [4.0])
    assert select_relevant(bare, ranking, weights=floored).best(1) == []


def test_the_floor_rises_if_all_messages_resemble_the_question() -> None:
    counted = weights(meaning=6.0, session_meaning=4.0)

    def is_selected(score: float, *cosines: float) -> bool:
        messages = [make_message(number, dense=cosine) for number, cosine in enumerate(cosines)]
        return bool(selected(ASKED, [score], counted, *messages))

    assert is_selected(0.1, 0.6, *[0.05] * 40)
    assert not is_selected(2.0, 0.6, *[0.4] * 40)
    assert is_selected(3.5, 0.6, *[0.4] * 40)
    assert is_selected(1.0, 0.4)  # one message alone says little about what is usual


def test_the_floor_rises_with_the_number_of_candidates() -> None:
    floor = Floor(
        base=4.0, growth=0.5, many=1000, coverage=0.0, meaning=0.0, talk=0.0, margin=1.0, spread=5.0
    )
    assert floor.among(1, coverage=1.0) == 4.0
    assert floor.among(400, coverage=0.0) == pytest.approx(4.0 + 0.5 * math.log(400))


def test_the_floor_rises_no_more_among_many_candidates() -> None:
    floor = replace(FLOOR, growth=1.0, many=30)

    assert floor.among(29) < floor.among(30) == floor.among(900)


def test_the_floor_falls_with_the_share_of_the_words_that_a_good_hit_has() -> None:
    high = Floor(
        base=5.0, growth=0.0, many=1000, coverage=2.0, meaning=0.0, talk=0.0, margin=1.0, spread=100.0
    )
    floored = replace(weights(), lexical_floor=high, hybrid_floor=high)
    two = (*ASKED.words, QuestionWord(whole=frozenset({8}), parts=frozenset()))
    question = make_question(7, 8, words=two)
    for dense in (None, 0.1):
        one_word = make_message(1, dense=dense, terms=frozenset({7}))
        both_words = make_message(1, dense=dense, terms=frozenset({7, 8}))
        assert selected(question, [3.9], floored, one_word) == []
        assert selected(question, [4.0], floored, one_word) == [4.0]
        assert selected(question, [3.0], floored, both_words) == [3.0]


def test_the_floor_falls_with_the_best_cosine() -> None:
    high = Floor(
        base=5.0, growth=0.0, many=1000, coverage=0.0, meaning=4.0, talk=0.0, margin=1.0, spread=100.0
    )
    floored = replace(weights(), lexical_floor=high, hybrid_floor=high)

    def is_selected(*cosines: float | None) -> bool:
        # No message of the ranking needs to be the one with the best cosine.
        messages = [make_message(number, dense=cosine) for number, cosine in enumerate(cosines)]
        return bool(selected(ASKED, [3.0, 2.0, 1.0], floored, *messages))

    assert is_selected(0.0, 0.0, 0.6)
    assert not is_selected(0.0, 0.0, 0.4)
    assert not is_selected(None, None, None)


def test_hits_far_below_the_best_are_not_relevant_even_above_the_floor() -> None:
    narrow = Floor(
        base=1.0, growth=0.0, many=1000, coverage=0.0, meaning=0.0, talk=0.0, margin=1.0, spread=5.0
    )
    messages = [make_message(number, terms=HAVING) for number in range(3)]
    scores = [9.0, 4.0, 3.9]
    assert selected(ASKED, scores, replace(weights(), lexical_floor=narrow), *messages) == [9.0, 4.0]


def test_each_set_of_weights_has_its_floor() -> None:
    floored = replace(
        weights(),
        hybrid_floor=Floor(
            base=5.0, growth=0.0, many=1000, coverage=0.0, meaning=0.0, talk=0.0, margin=1.0, spread=100.0
        ),
    )
    assert selected(ASKED, [4.0], floored, make_message(1, dense=0.1, terms=HAVING)) == []
    assert selected(ASKED, [4.0], floored, make_message(1, terms=HAVING)) == [4.0]


def test_the_shipped_weights_name_existing_features() -> None:
    shipped = load_weights()
    assert set(shipped.hybrid) <= set(HYBRID_FEATURES)
    assert set(shipped.lexical) <= set(LEXICAL_FEATURES)
    assert {"words", "window", "author", "date"} <= set(shipped.hybrid) & set(shipped.lexical)


@pytest.mark.parametrize("name", ["window", "author", "date", "tells_time", "meaning", "session_meaning"])
def test_positive_features_have_positive_weights(name: str) -> None:
    assert load_weights().hybrid[name] > 0


def some_messages(seed: int, count: int) -> list[ScoredMessage]:
    chance = random.Random(seed)
    signs = ("question", "asks", "time", "name", "first_person")
    return [
        make_message(
            sequence,
            session=sequence // 20 * 20,
            sender_id=chance.choice((1, 2, None)),
            signs=frozenset(sign for sign in signs if chance.random() < 0.3),
            dense=chance.choice((None, chance.uniform(-0.2, 0.9))),
            sparse=chance.choice((0.0, chance.uniform(0, 20))),
            terms=frozenset(chance.sample(range(30), 5)),
        )
        for sequence in sorted(chance.sample(range(10 * count), count))
    ]


@given(seed=st.integers(0, 10_000), count=st.integers(1, 60), terms=st.sets(st.integers(0, 40), max_size=300))
@example(seed=4092, count=35, terms={6})
def test_the_order_is_finite_and_independent_of_the_input_order(
    seed: int, count: int, terms: set[int]
) -> None:
    messages = some_messages(seed, count)
    listed = {each.sequence for each in messages[::2]}
    question = make_question(*terms, author=1, dates=(DateSpan(start=0.0, end=DAY),))
    columns, reversed_columns = (
        tabulate(rows, question.terms.indices) for rows in (messages, messages[::-1])
    )
    ranking = rank(question, columns, listed=listed, weights=load_weights())
    again = rank(question, reversed_columns, listed=listed, weights=load_weights())
    hits = ranking.best(count)
    assert hits == again.best(count)
    assert all(math.isfinite(each.score) for each in hits)
    assert sorted(each.sequence for each in hits) == [each.sequence for each in messages]
    relevant = select_relevant(question, ranking, weights=load_weights()).best(count)
    assert relevant == hits[: len(relevant)]


@pytest.mark.parametrize(
    ("where", "found"),
    [
        (Where(), {1, 2, 3}),
        (Where(before_sequence=3), {1, 2}),
        (Where(sent_from=120.0), {2, 3}),
        (Where(sent_before=120.0), {1}),
        (Where(sender_ids=frozenset({1})), {1, 3}),
        (Where(roles=frozenset({"assistant"})), {2}),
        (Where(excluded=frozenset({"m1"})), {2, 3}),
        (Where(before_sequence=3, excluded=frozenset({"m1"})), {2}),
    ],
)
def test_only_messages_that_match_the_filter_are_admitted(where: Where, found: set[int]) -> None:
    columns = tabulate([make_message(1), make_message(2, role="assistant", sender_id=None), make_message(3)])
    assert set(columns.sequences[columns.admitted_by(where)].tolist()) == found
