"""The operators' requests to forget a person everywhere."""

from dataclasses import dataclass

import structlog
from starlette.requests import Request

from bot.page.documents import Document
from bot.page.visitors import PageError, Visitor
from bot.turn.forget_person import ForgetJobs, describe_counts
from bot.turn.person import Person

log = structlog.get_logger()

_DIGITS = 19


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgottenPeople:
    """The handlers, for operators only."""

    jobs: ForgetJobs

    async def show(self, _: Visitor, request: Request) -> Document:
        """Count what there is of a person by chat, or show the progress of their erasure, and its receipt."""
        person, jobs = _person_id(request), self.jobs
        id = await jobs.requests.id_of(person)
        job = await jobs.requests.find(id)
        chats = [] if job else describe_counts(await jobs.finder.count(person))
        progress = {"done": max(0, job.at), "of": len(job.refs)} if job else {"done": 0, "of": 0}
        receipt = None if job else await jobs.requests.find_receipt(id)
        return {"chats": chats, "is_running": job is not None, **progress, "receipt": receipt}

    async def forget(self, visitor: Visitor, request: Request) -> Document:
        """Record the request, which a worker does."""
        person = _person_id(request)
        await self.jobs.requests.begin(Person(id=person, until=self.jobs.clock()))
        log.info("person_to_be_forgotten", by=visitor.user_id)
        return {"done": True}


def _person_id(request: Request) -> int:
    text = request.path_params["id"]
    if not (text.isascii() and text.isdecimal()) or len(text) > _DIGITS or not int(text):
        raise PageError("bad_request", "The id of a person is a number above 0.")
    return int(text)
