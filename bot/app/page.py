"""Builds the memory page's API from settings and open stores."""

import time

from bot.app.build import build_access
from bot.page.api import PageApi
from bot.page.visitors import Authentication
from bot.settings import Settings


def build_page_api(settings: Settings) -> PageApi:
    """Return the API of the people and of the operators."""
    return PageApi(
        routes=[],
        authentication=Authentication(
            token=settings.token,
            operator_ids=build_access(settings).operator_ids,
            find_session=_no_session,
            clock=time.time,
        ),
        open_session=_no_sessions,
        clock=time.monotonic,
    )


async def _no_session(_: str) -> bool:
    return False


async def _no_sessions(_: str) -> None:
    return None
