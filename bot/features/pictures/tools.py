"""The tools `draw` and `edit`, which make pictures for the chat."""

from typing import Annotated, Literal

from pydantic import Field

from bot.agent.context import AgentContext, PictureMaker
from bot.agent.files import File
from bot.agent.tool import Tool
from bot.errors import ToolFailed

_TIMEOUT_S = 110.0
"""More than the endpoint and a download get (painter.py)."""

Prompt = Annotated[
    str,
    Field(
        min_length=1,
        max_length=4000,
        description="What the picture shows. The chat sees these words below it",
    ),
]
Size = Annotated[
    Literal["", "1024x1024", "1536x1024", "1024x1536"],
    Field(description="Width and height. Empty: the endpoint decides"),
]


async def _draw(context: AgentContext, prompt: Prompt, size: Size = "") -> File:
    """Draw a picture. The chat gets it with your answer. Only use it if the person wants a picture now."""
    return await _maker(context).make(context, prompt, size=size, edits=False)


async def _edit(context: AgentContext, prompt: Prompt, size: Size = "") -> File:
    """Change a photo: that of the person's message, else of the message that it replies to, else your last picture."""
    return await _maker(context).make(context, prompt, size=size, edits=True)


draw = Tool.from_function(_draw, name="draw", timeout_s=_TIMEOUT_S)
edit = Tool.from_function(_edit, name="edit", timeout_s=_TIMEOUT_S)


def _maker(context: AgentContext) -> PictureMaker:
    pictures = context.conversation.pictures
    if pictures is None:
        raise ToolFailed("No picture can be made here.")
    return pictures
