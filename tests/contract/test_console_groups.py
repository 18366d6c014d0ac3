"""The console on groups: moved groups by each of their ids, and overheard messages."""

from tests.contract.console_rig import ConsoleRig, migrate, on_stores, overhear, remember

OLD, NEW = -1234, -1001009
LINES = ["We plant beans.", "Noted."]


def test_a_moved_group_is_found_by_each_id_and_listed_by_the_present_one(console: ConsoleRig) -> None:
    on_stores(remember(OLD, LINES, title="Garden"))
    on_stores(remember(OLD, ["in a topic"], thread_id=7, title="Garden"))
    on_stores(migrate(OLD, NEW))

    listed = console("chats", "--json").document
    assert sorted(one["chat"] for one in listed) == [str(NEW), f"{NEW}/7"]
    assert {one["chat_id"] for one in listed} == {NEW}
    for chat_id in (OLD, NEW):
        assert "beans" in console("history", str(chat_id)).out
        assert "in a topic" in console("history", f"{chat_id}/7").out


def test_reset_erases_a_moved_group_by_either_id(console: ConsoleRig) -> None:
    for chat_id in (OLD, NEW):
        on_stores(remember(OLD, LINES))
        on_stores(migrate(OLD, NEW))

        ran = console("reset", str(chat_id), "--all", "--yes", "--json")

        assert (ran.document["messages_erased"], ran.document["is_proven"]) == (2, True)
        assert console("history", str(OLD)).status == 1


def test_reset_names_the_remaining_topics_of_a_moved_group(console: ConsoleRig) -> None:
    on_stores(remember(OLD, LINES))
    on_stores(remember(OLD, ["in a topic"], thread_id=7))
    on_stores(migrate(OLD, NEW))

    ran = console("reset", str(OLD), "--yes")

    assert f"also has 1 topic with a separate memory ({NEW}/7)" in ran.err


def test_a_group_with_only_overheard_messages_is_listed_and_erased(console: ConsoleRig) -> None:
    on_stores(overhear(OLD, "one", "two"))

    (listed,) = console("chats", "--json").document
    assert (listed["chat"], listed["title"], listed["messages"], listed["overheard"]) == (
        str(OLD),
        "Team",
        0,
        2,
    )
    assert listed["last_message_at"] == "2026-01-02T03:04:05.000Z"
    history = console("history", str(OLD))
    assert history.status == 0
    assert "and 2 overheard messages; --prompt shows the newest" in " ".join(history.out.split())

    receipt = console("reset", str(OLD), "--yes", "--json").document

    assert (receipt["talk_erased"], receipt["others_left"], receipt["is_proven"]) == (2, 0, True)
    assert console("chats", "--json").document == []
