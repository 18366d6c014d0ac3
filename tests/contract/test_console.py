"""The console's chat and queue commands on real embedded stores."""

import io
import sys

import pytest

from tests.contract.console_rig import (
    ConsoleRig,
    bury,
    edit,
    on_stores,
    remember,
    start_conversation,
    vectors_of,
    wait_in_line,
)

ANNA = ["My sister Anna lives in Lisbon.", "Noted.", "I like strong coffee.", "So do I."]
GROUP = -1001234


def test_chats_says_that_there_are_none(console: ConsoleRig) -> None:
    ran = console("chats")
    assert (ran.status, ran.err) == (0, "")
    assert ran.out == "No chat has a memory yet.\n"
    assert console("chats", "--json").document == []


def test_chats_are_listed_with_their_counts(console: ConsoleRig) -> None:
    on_stores(remember(1001, ANNA))
    on_stores(remember(GROUP, ["hello"], thread_id=7, title="Team"))
    ran = console("chats")
    lines = [line.split() for line in ran.out.splitlines()]
    assert ["1001", "Anna", "4", "4", "0", "2026-01-02", "03:04"] in lines
    assert ["-1001234/7", "Team", "1", "1", "0", "2026-01-02", "03:04"] in lines
    assert max(map(len, ran.out.splitlines())) <= 80
    documents = console("chats", "--json").document
    assert [(one["chat"], one["messages"]) for one in documents] == [("1001", 4), ("-1001234/7", 1)]
    assert documents[0]["last_message_at"] == "2026-01-02T03:04:08.000Z"


def test_history_shows_the_newest_messages_in_order(console: ConsoleRig) -> None:
    on_stores(remember(GROUP, ANNA))
    ran = console("history", str(GROUP), "--limit", "2")
    assert ran.status == 0
    assert "strong coffee" in ran.out
    assert "Lisbon" not in ran.out
    assert "These are the newest 2 of 4; --limit 0 prints all." in ran.out
    assert "time (UTC)" in ran.out
    shown = console("history", str(GROUP), "-n", "0", "--json").document["shown"]
    assert [one["text"] for one in shown] == ANNA
    assert shown[0]["sender"] == {"id": 1, "name": "Anna Berg"}


def test_history_whole_includes_earlier_conversations(console: ConsoleRig) -> None:
    on_stores(remember(1001, ANNA))
    on_stores(start_conversation(1001))
    ran = console("history", "1001")
    assert "Earlier conversations have 4 more; --whole includes them." in ran.out
    assert "Lisbon" not in ran.out
    assert "Lisbon" in console("history", "1001", "--whole").out
    assert console("chats", "--json").document[0]["in_conversation"] == 0


def test_history_marks_edited_messages(console: ConsoleRig) -> None:
    on_stores(remember(1001, ANNA))
    on_stores(edit(1001, 0, "My sister Anna lives in Porto."))
    assert "My sister Anna lives in Porto. (edited)" in " ".join(console("history", "1001").out.split())
    shown = console("history", "1001", "--json").document["shown"]
    assert [one["edited_at"] for one in shown] == ["2026-01-02T03:05:05.000Z", None, None, None]


def test_a_text_cannot_control_the_terminal(console: ConsoleRig) -> None:
    on_stores(remember(1001, ["\x1b]0;owned\x07[red]plain[/red]"], title="\x1b[2JAnna"))
    shown = console("history", "1001").out + console("chats").out
    assert "\x1b" not in shown
    assert "[red]plain[/red]" in shown


def test_an_unknown_chat_is_reported(console: ConsoleRig) -> None:
    ran = console("history", "-5", "--json")
    assert (ran.status, ran.out) == (1, "")
    assert ran.err == ("Chat -5 has no memory. `mnemogram chats` lists the chats that have one.\n")


def test_a_chat_with_a_memory_only_in_topics_lists_them(console: ConsoleRig) -> None:
    on_stores(remember(GROUP, ["hello"], thread_id=7))
    assert (
        console("history", str(GROUP)).err == "Chat -1001234 has a memory only in its topics: -1001234/7.\n"
    )
    assert "hello" in console("history", f"{GROUP}/7").out


def test_search_finds_by_meaning_and_only_in_its_chat(console: ConsoleRig) -> None:
    on_stores(remember(GROUP, ANNA))
    on_stores(remember(1002, ["Ben's sister lives in Oslo."], title="Ben"))
    found = console("search", str(GROUP), "where", "does", "Anna", "live?", "-k", "2", "--json").document
    assert found["found"][0]["text"] == "My sister Anna lives in Lisbon."
    assert len(found["found"]) <= 2
    assert "Oslo" not in str(found)
    assert "Lisbon" in console("search", str(GROUP), "where is my sister?").out


@pytest.mark.parametrize("text", ["thanks!", "quantum entanglement", "Anna Berg"])
def test_a_search_shows_every_match_with_its_score(console: ConsoleRig, text: str) -> None:
    on_stores(remember(GROUP, ANNA))
    found = console("search", str(GROUP), text, "--json").document["found"]
    assert {each["text"] for each in found} == set(ANNA)
    assert [each["score"] for each in found] == sorted((each["score"] for each in found), reverse=True)


def test_a_search_without_matches_says_so(console: ConsoleRig) -> None:
    on_stores(remember(GROUP, ANNA))
    ran = console("search", str(GROUP), " ")
    assert (ran.status, ran.err) == (0, "")
    assert ran.out.startswith("Nothing was found.")


def test_a_mistyped_option_is_refused(console: ConsoleRig) -> None:
    ran = console("search", str(GROUP), "coffee", "--jsn")
    assert ran.status == 2
    assert "No such option: --jsn" in ran.err


def test_reset_erases_a_chat_everywhere_and_gives_a_receipt(console: ConsoleRig) -> None:
    on_stores(remember(GROUP, ANNA, title="Team"))
    on_stores(wait_in_line(GROUP, 11, 12))
    before = on_stores(vectors_of(GROUP))
    ran = console("reset", str(GROUP))
    assert (ran.status, ran.err) == (0, "")
    printed = " ".join(ran.out.split())
    assert (
        "4 messages, 0 facts, 0 reminders, 4 search entries, "
        "0 summaries, 0 tool records, 0 artifacts, 0 overheard messages, "
        "2 waiting updates, 0 unsent messages" in printed
    )
    assert (
        "0 messages, 0 search entries, 0 facts, reminders, summaries, tool records, artifacts and overheard messages"
        in printed
    )
    assert "nothing is left" in ran.out
    assert (before, on_stores(vectors_of(GROUP))) == (4, 0)
    assert console("history", str(GROUP)).status == 1
    assert console("trace", "11", "--json").document["state"] == "forgotten"


def test_the_json_receipt_of_a_reset_has_every_count(console: ConsoleRig) -> None:
    on_stores(remember(1001, ANNA))
    assert console("reset", "1001", "--json").document == {
        "chat": "1001",
        "contexts": 1,
        "messages_erased": 4,
        "vectors_erased": 4,
        "messages_left": 0,
        "vectors_left": 0,
        "updates_forgotten": 0,
        "unsent_dropped": 0,
        "summaries_erased": 0,
        "ledger_turns_erased": 0,
        "artifacts_erased": 0,
        "talk_erased": 0,
        "quotes_erased": 0,
        "people_erased": 1,
        "sessions_erased": 1,
        "answer_receipts_erased": 0,
        "facts_erased": 0,
        "reminders_erased": 0,
        "others_left": 0,
        "is_proven": True,
    }


def test_reset_of_a_chat_without_a_memory_says_so(console: ConsoleRig) -> None:
    for options in ([], ["--all"], ["--json"]):
        ran = console("reset", "-77", "--yes", *options)
        assert ran.status == 1
        assert ran.err.startswith("Chat -77 has no memory. `mnemogram chats` lists the chats that have one.")
        assert "there was nothing to erase" in ran.err
        assert "is erased" not in ran.out
    on_stores(remember(GROUP, ["in a topic"], thread_id=7))
    ran = console("reset", str(GROUP), "--yes")
    assert (ran.status, ran.out) == (1, "")
    assert ran.err.startswith(f"Chat {GROUP} has a memory only in its topics: {GROUP}/7.")


def test_reset_of_a_chat_whose_only_message_waits_erases_that(console: ConsoleRig) -> None:
    on_stores(wait_in_line(1001, 11))
    ran = console("reset", "1001", "--yes", "--json")
    assert (ran.status, ran.err, ran.document["updates_forgotten"]) == (0, "", 1)


def test_reset_of_a_chat_keeps_its_topics_and_says_so(console: ConsoleRig) -> None:
    on_stores(remember(GROUP, ["in General"]))
    on_stores(remember(GROUP, ["in a topic"], thread_id=7))
    ran = console("reset", str(GROUP), "--json")
    assert (ran.status, ran.document["messages_erased"], ran.document["is_proven"]) == (0, 1, True)
    assert "also has 1 topic with a separate memory (-1001234/7)" in ran.err
    assert "`mnemogram reset -1001234 --all`" in ran.err
    assert "in a topic" in console("history", f"{GROUP}/7").out


def test_reset_all_erases_the_topics_too(console: ConsoleRig) -> None:
    on_stores(remember(GROUP, ["in General"]))
    on_stores(remember(GROUP, ["in a topic"], thread_id=7))
    on_stores(remember(1001, ["another chat"]))
    ran = console("reset", str(GROUP), "--all", "--yes", "--json")
    assert (ran.document["contexts"], ran.document["messages_erased"], ran.err) == (2, 2, "")
    assert [one["chat"] for one in console("chats", "--json").document] == ["1001"]


def test_reset_all_of_one_topic_is_refused(console: ConsoleRig) -> None:
    ran = console("reset", f"{GROUP}/7", "--all")
    assert ran.status == 2
    assert "one topic" in ran.err


def test_reset_without_the_index_is_reported_as_unproven(
    console: ConsoleRig, monkeypatch: pytest.MonkeyPatch
) -> None:
    on_stores(remember(1001, ANNA))
    monkeypatch.setenv("QDRANT_URL", "http://127.0.0.1:1")
    ran = console("reset", "1001", "--json")
    assert ran.status == 1
    assert (ran.document["vectors_left"], ran.document["is_proven"]) == (None, False)
    ran = console("reset", "1001")
    assert ran.status == 1
    assert ran.err.startswith("QDRANT_URL: the index does not answer.")


class Terminal(io.StringIO):
    """The answers of a person at a terminal."""

    def isatty(self) -> bool:
        return True


def test_reset_at_a_terminal_asks_first(console: ConsoleRig, monkeypatch: pytest.MonkeyPatch) -> None:
    on_stores(remember(1001, ANNA))
    monkeypatch.setattr(sys, "stdin", Terminal("n\n"))
    ran = console("reset", "1001")
    assert ran.status == 1
    assert "Erase 4 messages of chat 1001 (Anna) for good?" in ran.err
    assert console("chats", "--json").document[0]["messages"] == 4
    monkeypatch.setattr(sys, "stdin", Terminal("y\n"))
    assert console("reset", "1001").status == 0
    assert console("chats", "--json").document == []


def test_an_empty_queue_says_so(console: ConsoleRig) -> None:
    ran = console("queue")
    assert (ran.status, ran.out) == (0, "Nothing waits: every update is finished.\nNo dead letters.\n")
    assert console("queue", "--json").document == {
        "updates": 0,
        "chats": 0,
        "oldest_s": None,
        "index_work": 0,
        "index_build": None,
        "waiting": [],
        "dead": [],
    }


def test_the_queue_shows_waiting_chats_and_dead_letters_without_texts(console: ConsoleRig) -> None:
    on_stores(remember(1001, ANNA))
    on_stores(bury(1002, 20))
    on_stores(wait_in_line(1001, 21, 22))
    ran = console("queue")
    assert ran.out.startswith("2 updates in 1 chat; the oldest has waited ")
    assert any(line.split()[:4] == ["1001", "Anna", "2", "0"] for line in ran.out.splitlines())
    assert "1 dead letter:" in ran.out
    assert "interrupted too often" in ran.out
    document = console("queue", "--json")
    assert document.document["waiting"][0]["chat"] == "1001"
    assert [letter["update_id"] for letter in document.document["dead"]] == [20]
    assert "nobody may see" not in ran.out + document.out


def test_a_retried_dead_letter_waits_again(console: ConsoleRig) -> None:
    on_stores(bury(1001, 20))
    ran = console("queue", "retry", "20")
    assert (ran.status, ran.out) == (0, "Update 20 waits again, first in its chat.\n")
    assert console("queue", "--json").document["updates"] == 1
    again = console("queue", "retry", "20")
    assert (again.status, again.err) == (1, "Update 20 is not a dead letter: its state is pending.\n")


def test_a_dead_letter_is_dropped_for_good(console: ConsoleRig) -> None:
    on_stores(bury(1001, 20))
    assert "set aside: `mnemogram queue retry 20`" in console("trace", "20").out
    assert console("queue", "drop", "20").out == "Update 20 is dropped for good.\n"
    document = console("trace", "20", "--json").document
    assert (document["state"], document["reason"], document["is_dead_letter"]) == (
        "dead",
        "dropped by an operator",
        False,
    )


def test_trace_shows_the_life_of_an_update(console: ConsoleRig) -> None:
    on_stores(remember(1001, ANNA))
    on_stores(wait_in_line(1001, 21, 22))
    facts = dict(line.rstrip().split("  ", 1) for line in console("trace", "22").out.splitlines())
    assert {name: value.strip() for name, value in facts.items()} == {
        "update": "22",
        "state": "pending: it waits for its turn",
        "chat": "1001 · Anna",
        "received": "2026-01-02 03:04 UTC",
        "in its line": "after 1 other",
    }


def test_the_negative_number_of_a_reminder_is_no_option(console: ConsoleRig) -> None:
    on_stores(bury(1001, -5))

    assert "set aside: `mnemogram queue retry -5`" in console("trace", "-5").out
    assert console("queue", "retry", "-5").status == 0
    assert "first" in console("trace", "-5").out


@pytest.mark.parametrize("arguments", [("trace", "99"), ("queue", "retry", "99"), ("queue", "drop", "-99")])
def test_an_update_without_a_record_is_reported(console: ConsoleRig, arguments: tuple[str, ...]) -> None:
    ran = console(*arguments)
    assert (ran.status, ran.out) == (1, "")
    assert ran.err.startswith(f"No record of update {arguments[-1]}: ")


def test_trace_shows_the_newest_update_of_a_chat(console: ConsoleRig) -> None:
    on_stores(wait_in_line(-1001, 9, 10))
    on_stores(wait_in_line(1002, 11))

    assert console("trace", "--chat", "-1001", "--last", "--json").document["update_id"] == 10
    assert "pending" in console("trace", "--chat", "1002", "--last").out
    missing = console("trace", "--chat", "1003", "--last")
    assert (missing.status, missing.out) == (1, "")
    assert missing.err == "No update of chat 1003 has a record: none came in the last 48 hours.\n"


@pytest.mark.parametrize(
    "arguments", [[], ["--last"], ["--chat", "1001"], ["10", "--last"], ["10", "--chat", "1001", "--last"]]
)
def test_trace_takes_either_numbers_or_the_last_of_a_chat(console: ConsoleRig, arguments: list[str]) -> None:
    ran = console("trace", *arguments)
    assert (ran.status, ran.out) == (2, "")
    assert "--chat CHAT --last" in " ".join(ran.err.split())


def test_trace_of_several_updates_shows_those_with_a_record(console: ConsoleRig) -> None:
    on_stores(wait_in_line(1001, 21, 22))

    table, documents = console("trace", "21", "99", "22"), console("trace", "21", "99", "--json")

    assert [line.split()[0] for line in table.out.splitlines() if "pending" in line] == ["21", "22"]
    assert [each["update_id"] for each in documents.document] == [21]
    for ran in (table, documents):
        assert ran.status == 1
        assert ran.err.startswith("No record of update 99: ")


def test_another_bots_chats_are_not_shown(console: ConsoleRig, monkeypatch: pytest.MonkeyPatch) -> None:
    on_stores(remember(1001, ANNA))
    monkeypatch.setenv("TELEGRAM_BOT_TOKEN", "777:another-bot")
    assert console("chats", "--json").document == []
    assert console("history", "1001").status == 1


def test_an_unreachable_store_is_reported_with_its_setting(
    console: ConsoleRig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REDIS_URL", "redis://:hunter2@127.0.0.1:1")
    ran = console("chats")
    assert (ran.status, ran.out) == (1, "")
    assert (
        ran.err
        == "REDIS_URL: Redis cannot be reached: nothing listens at this port. Start the server, or correct the port\n"
    )
