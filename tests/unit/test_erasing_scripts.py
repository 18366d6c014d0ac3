"""Every script that makes words unreachable raises `erasures`, so that they leave the embedded store's file too."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from memory.redis import lua
from memory.redis.lua import Script

ROOT = Path(__file__).parents[2]
_CALLED = re.compile(r"redis\.p?call\('(\w+)'")
_RAISES = re.compile(r"redis\.call\('INCR', (?:keys\.)?erasures\)")
_READS = (
    "EXISTS GET HEXISTS HGET HGETALL HKEYS HLEN HMGET HSCAN HSTRLEN HVALS LINDEX LLEN LRANGE MGET PTTL SCAN SCARD"
    " SISMEMBER STRLEN TIME TTL TYPE XINFO XLEN XPENDING XRANGE ZCARD ZCOUNT ZRANGE ZRANGEBYSCORE ZRANK ZREVRANGE"
    " ZREVRANGEBYSCORE ZSCORE"
)

WITHOUT_WORDS: Mapping[str, str] = {
    "it only adds": (
        "add_reminder append_history append_imported begin_import keep_file place_notice record restore_key"
        " leave_tombstones stage_import"
    ),
    "it deletes and replaces ids, numbers, times, names and digests": (
        "admit_turn begin_walk book_usage claim_due count_sends end_sweeping end_walk fail_claim"
        " finish_compression finish_extraction finish_work forget_telegram_ids heartbeat hold hurry_extraction"
        " leave_group learn_migration let_others_in move_claim note_list place_lists redeem"
        " register_context replace_spaces beat probe_write reserve settle sweep switch_facts_on take_picture uncount"
        " walk_on"
    ),
    "the messages that a summary tells stay, and erasing one of them raises the counter": (
        "new_conversation save_summary"
    ),
    "the reminder's words go into the box, and the turn that sends them keeps them": "fire_reminder",
    "a second try writes the same text again": "write_artifact",
    "it only reads, and its preludes write for other scripts": "count_mentions export_messages",
}
"""Scripts that write and do not raise the counter, by the reason why they make no words unreachable."""


def scripts() -> Iterator[Script]:
    """Yield every script of the bot and of the memory with its preludes, which have no keys of their own."""
    for folder in sorted({path.parent for top in ("bot", "memory") for path in (ROOT / top).rglob("*.lua")}):
        package = ".".join(folder.relative_to(ROOT).parts)
        for path in sorted(folder.glob("*.lua")):
            if "\n-- KEYS:" in path.read_text("utf-8"):
                yield lua.load(package, path.stem)[1]


def test_every_script_that_writes_raises_the_counter_or_deletes_no_words() -> None:
    writing = [script for script in scripts() if set(_CALLED.findall(script.text)) - set(_READS.split())]
    raising = {script.name for script in writing if _RAISES.search(script.text)}
    reasons = {name: reason for reason, names in WITHOUT_WORDS.items() for name in names.split()}

    assert {"commit", "forget_messages", "reset", "sent"} < raising
    assert {script.name for script in writing} - raising == reasons.keys()


def test_a_prelude_that_deletes_messages_raises_the_counter_itself() -> None:
    """Otherwise each of its scripts has to: the commit that answers an edited message again forgot it."""
    for name in ("delete_messages", "erase_memory", "facts"):
        assert _RAISES.search((ROOT / f"memory/redis/scripts/{name}.lua").read_text("utf-8"))
