"""Servers that repair a torn transaction at the end of their file."""

from collections.abc import Mapping

import pytest

from memory.redis.durability import leaves_torn_transactions


@pytest.mark.parametrize(
    ("told", "leaves"),
    [
        ({"redis_version": "7.0.15"}, True),
        ({"server_name": "valkey", "redis_version": "7.2.4", "valkey_version": "9.1.1"}, True),
        ({"server_name": "valkey", "redis_version": "7.2.4", "valkey_version": "9.1.2"}, False),
        ({"server_name": "valkey", "redis_version": "7.2.4", "valkey_version": "10.0.0"}, False),
        ({}, True),
    ],
)
def test_only_a_valkey_from_9_1_2_on_is_known_to_truncate_it(told: Mapping[str, str], leaves: bool) -> None:
    assert leaves_torn_transactions(told) is leaves
