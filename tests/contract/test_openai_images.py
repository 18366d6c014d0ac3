"""Pictures in requests to the model, also to an endpoint that refuses them."""

from base64 import b64encode
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest
from structlog.testing import capture_logs

from bot.agent.abilities import Abilities
from bot.agent.model import Image, PromptMessage
from bot.agent.openai_model import OpenAIModel, Patience, open_openai_model
from bot.errors import ModelRefused, ModelUnavailable
from tests.documents import JPEG
from tests.openai_checker.request import find_fault
from tests.scripted_openai import ScriptedOpenAI, scripted_openai
from tests.scripted_replies import Failure, Reply
from tests.sent_files import make_picture

HASTY = Patience(tries=1, idle_s=1.0, first_wait_s=0.001, longest_wait_s=0.5)
PNG = Image(data=make_picture(), mime_type="image/png", tokens=255)
SEEN = [
    PromptMessage(role="system", text="You are a test."),
    PromptMessage(
        role="user", text="What is this?", images=(PNG, Image(data=JPEG, mime_type="image/jpeg", tokens=255))
    ),
]
BLIND_LINE = "What is this?\n[The 2 pictures of this message could not be shown to you: say so.]"


@asynccontextmanager
async def model(
    *script: Reply | str, sees: bool = True
) -> AsyncGenerator[tuple[ScriptedOpenAI, OpenAIModel]]:
    async with (
        scripted_openai(script) as server,
        open_openai_model(
            model="test-1",
            api_key="sk",
            base_url=server.base_url,
            patience=HASTY,
            abilities=Abilities(never=frozenset() if sees else frozenset(["images"])),
        ) as opened,
    ):
        yield server, opened
        assert server.invalid_requests == []


def refused(message: str, status: int = 400) -> Reply:
    return Reply(failure=Failure(status=status, message=message))


async def test_pictures_are_sent_with_the_text_of_their_message() -> None:
    async with model("a cat") as (server, seeing):
        reply = await seeing.chat(SEEN, [])

    assert reply.text == "a cat"
    system, user = server.chat_requests[0].body["messages"]
    assert system["content"] == "You are a test."
    assert user["content"] == [
        {"type": "text", "text": "What is this?"},
        {
            "type": "image_url",
            "image_url": {"url": f"data:image/png;base64,{b64encode(make_picture()).decode()}"},
        },
        {"type": "image_url", "image_url": {"url": f"data:image/jpeg;base64,{b64encode(JPEG).decode()}"}},
    ]


async def test_a_model_without_vision_is_told_of_the_pictures() -> None:
    async with model("I cannot see it", sees=False) as (server, blind):
        await blind.chat(SEEN, [])

    assert server.chat_requests[0].body["messages"][1]["content"] == BLIND_LINE


@pytest.mark.parametrize(
    "refusal",
    [
        refused("Invalid content type. image_url is only supported by certain models."),
        refused("this model does not support image input (ref: 1)"),
        refused("json: cannot unmarshal array into Go struct field Message.messages.content of type string"),
        refused("test-1 is not a multimodal model"),
        refused("No endpoints found that support image input", status=404),
        refused("image input is not supported - hint: you may need to provide the mmproj", status=500),
    ],
)
async def test_an_endpoint_that_refuses_pictures_gets_no_more(refusal: Reply) -> None:
    async with model(refusal, "first", "second") as (server, unseeing):
        with capture_logs() as logs:
            first = await unseeing.chat(SEEN, [])
            second = await unseeing.chat(SEEN, [])

    assert (first.text, second.text) == ("first", "second")
    contents = [request.body["messages"][1]["content"] for request in server.chat_requests]
    assert [isinstance(content, list) for content in contents] == [True, False, False]
    assert contents[1] == contents[2] == BLIND_LINE
    assert [line["event"] for line in logs] == ["ability_refused"]


async def test_a_refusal_of_one_picture_does_not_switch_pictures_off() -> None:
    async with model(refused("You uploaded an unsupported image."), "first", "second") as (server, seeing):
        await seeing.chat(SEEN, [])
        await seeing.chat(SEEN, [])

    contents = [request.body["messages"][1]["content"] for request in server.chat_requests]
    assert [isinstance(content, list) for content in contents] == [True, False, True]


@pytest.mark.parametrize(
    ("failure", "error"),
    [(refused("Unknown model"), ModelRefused), (refused("overloaded", status=503), ModelUnavailable)],
)
async def test_another_failure_is_raised_unchanged(failure: Reply, error: type[Exception]) -> None:
    async with model(failure) as (server, seeing):
        with pytest.raises(error):
            await seeing.chat(SEEN, [])

    assert len(server.chat_requests) == 1


@pytest.mark.parametrize(
    ("url", "code"),
    [
        ("data:text/plain;base64,aGk=", "invalid_value"),
        ("data:image/png;base64,!", "invalid_image_format"),
        ("data:image/png;base64,aGVsbG8=", "invalid_image_format"),
    ],
)
async def test_the_scripted_server_refuses_the_same_pictures_as_openai(url: str, code: str) -> None:
    part = {"type": "image_url", "image_url": {"url": url}}
    fault = find_fault({"model": "m", "messages": [{"role": "user", "content": [part]}]})
    assert fault is not None
    assert fault.code == code
