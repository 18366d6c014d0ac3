"""Readers for the prompts that the scripted model got."""

from typing import Any

RECALL_HEADING = "From this chat's memory"
TALK_HEADING = "From what was said in this chat lately and not to you"


def prompt_texts(prompt: list[dict[str, Any]]) -> list[str]:
    """Return the texts of a prompt, without the system message, recalled messages and overheard talk."""
    ours = (RECALL_HEADING, TALK_HEADING)
    return [str(message["content"]) for message in prompt[1:] if not _begins(message, *ours)]


def recalled(prompt: list[dict[str, Any]]) -> str:
    """Return the recalled messages of a prompt; "" without any."""
    return "\n".join(str(message["content"]) for message in prompt[1:] if _begins(message, RECALL_HEADING))


def overheard(prompt: list[dict[str, Any]]) -> list[str]:
    """Return the lines of overheard talk, in order."""
    told = [str(message["content"]) for message in prompt[1:] if _begins(message, TALK_HEADING)]
    return [line for section in told for line in section.splitlines()[1:] if line]


def tool_results(prompt: list[dict[str, Any]]) -> list[str]:
    """Return the tools' results in a prompt, in order."""
    return [str(message["content"]) for message in prompt if message["role"] == "tool"]


def _begins(message: dict[str, Any], *headings: str) -> bool:
    return message["role"] == "user" and str(message["content"]).startswith(headings)
