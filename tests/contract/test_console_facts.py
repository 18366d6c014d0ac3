"""The console's `facts` on real embedded stores."""

from tests.contract.console_rig import ConsoleRig, learn, on_stores, remember

TEA, PORTO, BAKERY = "Anna Berg likes tea", "Anna Berg lives in Porto", "Anna Berg works at a bakery"
CHAT, GROUP = 1001, -1001234


def test_the_facts_that_hold_are_listed_the_newest_first(console: ConsoleRig) -> None:
    on_stores(remember(CHAT, ["hello"]))
    on_stores(learn(CHAT, BAKERY, PORTO, TEA, until=[BAKERY]))
    ran = console("facts", str(CHAT))
    assert (ran.status, ran.err) == (0, "")
    lines = ran.out.splitlines()
    assert lines[0] == "1001 · Anna: 3 facts"
    shown = [line for line in lines if "2026-01-02" in line]
    assert [line.rstrip().split("  ")[-1].strip() for line in shown] == [TEA, PORTO]
    assert lines[-1] == "Left out because they no longer hold: 1 fact. --all prints them too."
    assert max(map(len, lines)) <= 80


def test_all_also_prints_what_no_longer_holds(console: ConsoleRig) -> None:
    on_stores(remember(CHAT, ["hello"]))
    on_stores(learn(CHAT, BAKERY, PORTO, until=[BAKERY]))
    ran = console("facts", "--all", str(CHAT))
    assert "2026-01-03" in ran.out
    assert "bakery" in ran.out
    assert "Left out" not in ran.out


def test_the_json_document_has_every_field(console: ConsoleRig) -> None:
    on_stores(remember(CHAT, ["hello"]))
    on_stores(learn(CHAT, BAKERY, PORTO, until=[BAKERY]))
    document = console("facts", "--json", str(CHAT)).document
    (fact,) = document.pop("facts")
    assert document == {"chat": "1001", "title": "Anna", "is_on": True, "total": 2, "unread": 0}
    assert fact.pop("message_ids")
    assert fact == {
        "id": "fact1",
        "subject": "Anna Berg",
        "subject_id": 1,
        "statement": PORTO,
        "said_by": 1,
        "valid_from": "2026-01-02T03:04:06.000Z",
        "valid_to": None,
        "confidence": 0.9,
        "is_corrected": False,
        "imported_from": "",
        "kind": "fact",
    }
    assert len(console("facts", "--json", "--all", str(CHAT)).document["facts"]) == 2


def test_a_chat_without_facts_says_so_and_a_group_that_none_are_learned(console: ConsoleRig) -> None:
    on_stores(remember(CHAT, ["hello"]))
    on_stores(remember(GROUP, ["hello"], title="Team"))
    assert console("facts", str(CHAT)).out == "1001 · Anna: 0 facts\n"
    assert console("facts", str(GROUP)).out == "-1001234 · Team: 0 facts; no new ones are learned\n"
    assert console("facts", "--json", str(GROUP)).document["is_on"] is False


def test_an_unknown_chat_is_reported(console: ConsoleRig) -> None:
    ran = console("facts", "77")
    assert (ran.status, ran.out) == (1, "")
    assert "Chat 77 has no memory." in ran.err


def test_something_that_is_no_chat_is_refused(console: ConsoleRig) -> None:
    assert console("facts", "Anna").status == 2


def test_a_fact_cannot_control_the_terminal(console: ConsoleRig) -> None:
    on_stores(remember(CHAT, ["hello"]))
    on_stores(learn(CHAT, "Anna \x1b[31mBerg\u202e"))
    assert "\x1b" not in console("facts", str(CHAT)).out
