"""`chats`, `history`, `search`, `reset`: what is kept of a chat, and how it is forgotten."""

import sys
from datetime import date
from typing import Annotated

import typer

from bot.cli.options import AsJson, Chat
from bot.cli.session import done_now, end_with, load_quietly


def chats(as_json: AsJson = False) -> None:
    """List the chats and topics of which something is kept, the most recent first."""
    settings = load_quietly()
    from bot.cli.chat_listing import list_chats

    end_with(settings, list_chats(settings, as_json=as_json))


def history(
    chat: Chat,
    *,
    limit: Annotated[
        int | None,
        typer.Option("--limit", "-n", min=0, help="The newest so many; 0: all.", show_default="20"),
    ] = None,
    whole: Annotated[
        bool, typer.Option("--whole", help="Go back beyond the present conversation, past /new.")
    ] = False,
    prompt: Annotated[
        bool, typer.Option("--prompt", help="The prompt that the next message would get, with its receipt.")
    ] = False,
    message: Annotated[
        str | None, typer.Option("--message", "-m", help="With --prompt: the text of that next message.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Print the newest messages of a chat, or the prompt that its next message would get."""
    if prompt and (limit is not None or whole):
        raise typer.BadParameter("--prompt shows one prompt: --limit and --whole do not go with it")
    if message is not None and not prompt:
        raise typer.BadParameter("--message is the next message of --prompt: give both")
    settings = load_quietly()
    if prompt:
        from bot.cli.prompt_reading import print_prompt

        end_with(settings, print_prompt(settings, chat, text=message, as_json=as_json))
    from bot.cli.chat_reading import print_history

    end_with(
        settings,
        print_history(settings, chat, limit=20 if limit is None else limit, whole=whole, as_json=as_json),
    )


def _parse_day(text: str) -> date:
    from memory.recall.history_search import parse_day

    try:
        return parse_day(text)
    except ValueError as error:
        raise typer.BadParameter(f"{text!r} {error}") from None


def search(
    chat: Chat,
    text: Annotated[list[str], typer.Argument(help="What to look for, by words and meaning.")],
    k: Annotated[int, typer.Option("-k", min=1, max=100, help="How many messages to find.")] = 5,
    *,
    speaker: Annotated[
        str | None,
        typer.Option("--from", metavar="NAME", help="Only messages of this person, or of the bot."),
    ] = None,
    after: Annotated[
        date | None, typer.Option(parser=_parse_day, metavar="DATE", help="Only of this day (UTC) and later.")
    ] = None,
    before: Annotated[
        date | None, typer.Option(parser=_parse_day, metavar="DATE", help="Only of this day and earlier.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Find messages of a chat by their words and meaning, as the agent's recall does."""
    _refuse_options(text)
    if after is not None and before is not None and after > before:
        raise typer.BadParameter(f"--after {after} is later than --before {before}")
    settings = load_quietly()
    from bot.cli.chat_reading import Wanted, print_found

    wanted = Wanted(text=" ".join(text), k=k, speaker=speaker, after=after, before=before)
    end_with(settings, print_found(settings, chat, wanted, as_json=as_json))


def reset(
    chat: Chat,
    all_topics: Annotated[bool, typer.Option("--all", help="The chat with all its topics.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    as_json: AsJson = False,
) -> None:
    """Erase what is kept of a chat, everywhere, and print the receipt.

    Asks first where it is typed at a terminal. Exit status 1 if reading back does not prove the erasure.
    """
    if all_topics and chat.thread_id is not None:
        raise typer.BadParameter(f"{chat} is one topic: give {chat.chat_id} --all for the whole chat")
    settings = load_quietly()
    from bot.cli.chat_resetting import ask_for_reset, reset_chat

    if sys.stdin.isatty() and not yes:
        question = done_now(settings, ask_for_reset(settings, chat, all_topics=all_topics))
        typer.confirm(question, abort=True, err=True)
    end_with(settings, reset_chat(settings, chat, all_topics=all_topics, as_json=as_json))


def _refuse_options(words: list[str]) -> None:
    """An option that does not exist comes in as a word, because a negative chat id may."""
    for word in words:
        if word.startswith("--"):
            raise typer.BadParameter(f"No such option: {word}")
