"""The body of a Chat Completions request (pure)."""

from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import replace

from bot.agent.model import Image, JsonSchema, PromptMessage, ToolSpec
from memory.characters import well_formed


def request_body(
    model: str, messages: Sequence[PromptMessage], tools: Sequence[ToolSpec]
) -> dict[str, object]:
    """A streamed request. A message's content is a text, with pictures a list of parts: its text, then they."""
    body: dict[str, object] = {"model": model, "messages": list(map(_message_body, messages)), "stream": True}
    if tools:  # an empty list is refused
        body["tools"] = [_tool_body(tool) for tool in tools]
    return body


def json_forms(schema: JsonSchema) -> tuple[Mapping[str, object], ...]:
    """How an answer in JSON is asked for, the strictest first; the prompt says it too, for servers that drop these."""
    strict = {"name": schema.name, "strict": True, "schema": dict(schema.schema)}
    return (
        {"response_format": {"type": "json_schema", "json_schema": strict}},
        {"response_format": {"type": "json_object"}},
        {},
    )


def has_images(messages: Sequence[PromptMessage]) -> bool:
    """Whether there is a picture in any of them."""
    return any(message.images for message in messages)


def without_images(messages: Sequence[PromptMessage]) -> list[PromptMessage]:
    """The same messages, each that had pictures with a line that says that they cannot be seen."""
    return [_blind(message) if message.images else message for message in messages]


def _blind(message: PromptMessage) -> PromptMessage:
    count = len(message.images)
    what = "The picture of this message" if count == 1 else f"The {count} pictures of this message"
    return replace(message, text=f"{message.text}\n[{what} could not be shown to you: say so.]", images=())


def _message_body(message: PromptMessage) -> dict[str, object]:
    text = well_formed(message.text)
    if message.role == "tool":
        return {"role": "tool", "tool_call_id": message.tool_call_id, "content": text}
    if message.images:
        parts = [{"type": "text", "text": text}, *map(_image_part, message.images)]
        return {"role": message.role, "content": parts}
    if not message.tool_calls:
        return {"role": message.role, "content": text}
    calls = [
        {
            "id": call.id,
            "type": "function",
            "function": {"name": call.name, "arguments": well_formed(call.arguments)},
        }
        for call in message.tool_calls
    ]
    return {"role": message.role, "content": text or None, "tool_calls": calls}


def _image_part(image: Image) -> dict[str, object]:
    url = f"data:{image.mime_type};base64,{b64encode(image.data).decode('ascii')}"
    return {"type": "image_url", "image_url": {"url": url}}


def _tool_body(tool: ToolSpec) -> dict[str, object]:
    function = {"name": tool.name, "description": tool.description, "parameters": dict(tool.parameters)}
    return {"type": "function", "function": function}
