"""Addresses of text links."""

import pytest

from simulator.api.entities import checked_link
from simulator.api.errors import BadRequest

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("given", "stored"),
    [
        ("example.com", "http://example.com/"),
        ("HTTPS://Example.COM/Path?q=A#F", "https://example.com/Path?q=A#F"),
        ("http://example.com?q=1", "http://example.com/?q=1"),
        ("example.com:8080/x", "http://example.com:8080/x"),
        ("https://user@example.com/", "https://user@example.com/"),
        ("http://[::1]:8080/", "http://[::1]:8080/"),
        ("http://127.0.0.1:8081/page", "http://127.0.0.1:8081/page"),
        ("tg://user?id=5", "tg://user?id=5"),
    ],
)
def test_a_link_is_normalised_as_telegram_does(given: str, stored: str) -> None:
    assert checked_link(given) == stored


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("localhost", "Wrong HTTP URL"),
        ("", "Wrong HTTP URL"),
        ("docs/readme.md", "Wrong HTTP URL"),
        ("https://two words.com", "Wrong HTTP URL"),
        ("https://a..b/", "Wrong HTTP URL"),
        ("mailto:ann@example.com", "Unsupported URL protocol"),
        ("javascript:alert(1)", "Unsupported URL protocol"),
        ("ftp://example.com/", "Unsupported URL protocol"),
    ],
)
def test_an_invalid_web_address_is_refused(url: str, reason: str) -> None:
    with pytest.raises(BadRequest) as refusal:
        checked_link(url)
    assert str(refusal.value) == f"Bad Request: entity URL '{url}' is invalid: {reason}"
