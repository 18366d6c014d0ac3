"""benchmarks/recall.py: how it reads conversations, turns them into talk with a bot, and judges what was found."""

import importlib
import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.slow

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
TALK: list[dict[str, Any]] = [
    {
        "sample_id": "tiny",
        "conversation": {
            "speaker_a": "Ada",
            "speaker_b": "Bo",
            "session_1_date_time": "1:00 pm on 8 May, 2023",
            "session_1": [
                {"dia_id": "D1:1", "speaker": "Ada", "text": "I adopted a grey parrot"},
                {"dia_id": "D1:2", "speaker": "Bo", "text": "Parrots like walnuts."},
            ],
            "session_2_date_time": "2:00 pm on 9 May, 2023",
            "session_2": [{"dia_id": "D2:1", "speaker": "Ada", "text": "He bit me"}],
        },
        "qa": [
            {"question": "What is Ada's pet?", "evidence": ["D1:1", "D9:9"], "category": 4},
            {"question": "What did Bo tell Ada?", "evidence": ["D1:2"], "category": 1, "kind": "extraction"},
            {"question": "Who is the vet?", "evidence": [], "category": 5, "kind": "abstention"},
            {"question": "Did Bo adopt a parrot?", "evidence": ["D1:1"], "category": 5},
        ],
    }
]


@pytest.fixture
def rig(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a function that imports a module of the benchmarks, which are no package."""
    monkeypatch.setattr(sys, "path", [str(BENCHMARKS), *sys.path])
    return importlib.import_module


@pytest.fixture
def conversation(rig: Any, tmp_path: Path) -> Any:
    path = tmp_path / "tiny.json"
    path.write_text(json.dumps(TALK), encoding="utf-8")
    (read,) = rig("rig.locomo").read_conversations(path)
    return read


def test_questions_have_their_kind_and_existing_evidence(conversation: Any) -> None:
    assert [(each.kind, each.evidence) for each in conversation.questions] == [
        ("single-hop", {"D1:1"}),
        ("extraction", {"D1:2"}),
    ]


def test_questions_with_nothing_to_find_are_kept_apart(conversation: Any) -> None:
    assert [each.text for each in conversation.unanswerable] == ["Who is the vet?"]


def test_in_a_private_chat_the_first_speaker_asks_and_the_other_is_the_bot(conversation: Any) -> None:
    chat = conversation.as_private_chat()

    assert (chat.asker, chat.bot) == ("Ada", "Bo")
    assert [each.text for each in chat.questions] == ["What is my pet?", "What did you tell I?"]


def test_replies_grow_by_sentences_of_other_conversations(rig: Any, conversation: Any) -> None:
    locomo = rig("rig.locomo")
    said = "Walnuts are what parrots like most of all. Nobody has ever asked a parrot."
    turns = (locomo.Turn(id="D1:1", speaker="Cy", text=said, sent_at=0.0),)
    other = locomo.Conversation(name="other", speakers=("Cy", "Di"), turns=turns, questions=())

    lengthened = rig("rig.long_replies").with_long_replies([conversation.as_private_chat(), other])[0]

    assert [turn.text for turn in lengthened.turns if turn.speaker == "Ada"] == [
        "I adopted a grey parrot",
        "He bit me",
    ]
    assert "Walnuts are what parrots like most of all." in lengthened.turns[1].text


def test_strange_questions_come_from_the_other_conversations(rig: Any, conversation: Any) -> None:
    locomo, retrievers = rig("rig.locomo"), rig("rig.retrievers")
    other = locomo.Conversation(name="other", speakers=("Cy", "Di"), turns=(), questions=())
    evaluated = retrievers.EvaluationSet(name="set", conversations=[conversation, other])

    assert [each.text for each in evaluated.strange_to(other)] == ["What is Cy's pet?"]
    assert evaluated.strange_to(conversation) == []


def test_each_fold_is_judged_by_nothing_that_was_learned_from_it(rig: Any) -> None:
    folds = json.loads((BENCHMARKS / "ranker_folds.json").read_text(encoding="utf-8"))["folds"]
    judges = rig("recall").read_folds()

    for fold in folds:
        judge = asdict(judges[fold.pop("without")[0]])
        assert judge | fold == judge


@pytest.mark.parametrize(
    ("found", "shares"),
    [
        (["D1:1", "D2:4"], (0.5, 1.0, 1.0, 1.0)),
        (["D1:5"], (0.0, 0.0, 1.0, 0.0)),
        (["D3:1"], (0.0, 0.0, 0.0, 0.0)),
        ([], (0.0, 0.0, 0.0, 0.0)),
    ],
)
def test_messages_and_sessions_are_judged(
    rig: Any, found: list[str], shares: tuple[float, float, float, float]
) -> None:
    measures = rig("rig.retrieval").MEASURES

    assert tuple(measure({"D1:1", "D2:1"}, found) for measure in measures.values()) == shares


def test_a_figure_has_its_standard_error(rig: Any) -> None:
    retrieval = rig("rig.retrieval")

    assert retrieval.mean_of([0.0, 1.0]) == retrieval.Figure(mean=50.0, error=pytest.approx(50.0))
    assert retrieval.mean_of([]) == retrieval.Figure(mean=0.0, error=0.0)


def test_our_own_talk_is_the_same_each_time_and_every_question_has_evidence(rig: Any) -> None:
    make = rig("rig.own_talk").make_conversations
    talk = make(2)

    assert talk == make(2)
    for chat in talk:
        turns = {turn.id for turn in chat.turns}
        assert all(each.evidence and each.evidence <= turns for each in chat.questions)
