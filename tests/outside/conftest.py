"""Fixtures of the outside cross-checks."""

from collections.abc import Generator

import pytest
import structlog

from bot.settings import Settings


@pytest.fixture(autouse=True)
def nothing_from_outside_and_nothing_left(monkeypatch: pytest.MonkeyPatch) -> Generator[None]:
    """The developer's own settings do not reach these bots, nor their logging the tests that follow."""
    for name in Settings.model_fields:
        monkeypatch.delenv(name.upper(), raising=False)
    yield
    structlog.reset_defaults()
