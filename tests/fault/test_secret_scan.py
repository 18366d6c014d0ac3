"""The search for secrets finds each one in every form that it takes."""

import base64
from collections.abc import Callable
from urllib.parse import quote

import pytest

from chaos.rig.secret_scan import SecretScan

SECRET = "prx@k7m2qv9c4xw8ztb3ndhy"


def leaks(content: str | bytes) -> set[str]:
    vault = SecretScan(secrets={"it": SECRET})
    vault.look("there", content)
    return vault.leaks


@pytest.mark.parametrize("user", ["", "a", "an", "ann", "user"])
@pytest.mark.parametrize("encode", [base64.b64encode, base64.urlsafe_b64encode])
def test_a_password_is_found_in_the_credentials_of_a_header(
    user: str, encode: Callable[[bytes], bytes]
) -> None:
    assert leaks(b"authorization: Basic " + encode(f"{user}:{SECRET}".encode())) == {"it in there"}


@pytest.mark.parametrize(
    "content", [SECRET, f"redis://:{quote(SECRET, safe='')}@host", f'{{"key": "{SECRET}"}}']
)
def test_a_secret_is_found_in_plain_text_and_in_urls(content: str) -> None:
    assert leaks(content) == {"it in there"}


@pytest.mark.parametrize("other", ["", SECRET[:-1], base64.b64encode(SECRET[:12].encode()).decode()])
def test_a_part_of_a_secret_is_no_leak(other: str) -> None:
    assert leaks(other) == set()
