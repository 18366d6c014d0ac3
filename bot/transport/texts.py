"""Every sentence that the bot itself says in a chat."""

from datetime import UTC, datetime

from bot.errors import (
    DeadlinePassed,
    ModelQuotaExhausted,
    ModelRefused,
    ModelRepliedNothing,
    ModelUnavailable,
    PromptTooLong,
    TellUser,
)
from memory.forgetting import ErasureReceipt
from memory.history_store import HistorySnapshot, Kept
from memory.summary import render_summary

OFFLINE_NOTICE = (
    "I run on the offline model, a small stand-in for a language model: "
    "I can repeat what you told me and use simple tools. For real answers set OPENAI_API_KEY."
)

COMMANDS_MENU = (
    ("help", "What I can do"),
    ("new", "Start a new conversation; older memory stays searchable"),
    ("memory", "What I keep of this chat"),
    ("forget", "As a reply: erase that message from what I keep"),
    ("reset", "Erase what I keep of this chat"),
    ("stop", "Stop the answer being written"),
)

HELP = """\
I remember what is said to me in this chat, and use it in no other.

/new — start a new conversation; what was said before stays searchable
/memory — what I keep of this chat
/forget — as a reply: erase that message from what I keep, everywhere, with a receipt
/reset — erase what I keep of this chat, everywhere, with a receipt
/stop — stop the answer that is being written
/help — this text

In a group I answer when you reply to me, mention me or give me a command, and each topic has its own memory. \
There, /new and /reset are for administrators, and so is /forget of what others wrote.

If you edit a message that I keep, I keep what it says now."""

REFUSED = "I am sorry, I may not talk in this chat. Nothing that you wrote was kept."
NEW_CONVERSATION = "A new conversation. What was said before is still in my memory, and I can search it."
NOTHING_TO_STOP = "There is nothing to stop: I am not writing an answer."
STOPPED = "Stopped."
STOPPED_MARK = "\n\n_(stopped)_"
BURIED = (
    "I could not finish my answer to an earlier message: something went wrong each time that I tried. "
    "It is set aside for the operator, and I go on with the next one."
)
ADMINISTRATORS_ONLY = "Only the administrators of this group may do that. Nothing was changed."
OPERATORS_ONLY = "Only the operators of this bot may do that. Nothing was changed."
CANNOT_CHECK = (
    "I could not check with Telegram who administers this group, so nothing was changed. Please try again."
)
FORGET_USAGE = "Reply with /forget to the message that I should forget, yours or mine. Nothing was changed."
NOT_KEPT = "I do not keep that message, so there is nothing to forget."
FORGOTTEN_UNANSWERED = "I have forgotten that message. I had not remembered it: answering it had failed, and it was only kept to be tried again."
OTHERS_MESSAGE = (
    "You may have your own messages forgotten here. Those of others, and my answers, "
    "only the administrators of this group may. Nothing was changed."
)
UNKNOWN_CHAT_ID = "A chat is named by its number, such as /reset -1001234. Nothing was changed."
NOTHING_TO_SHOW = (
    "The language model's answer has nothing in it that can be shown. Please put it another way."
)
BURIED_EDIT = (
    "You edited a message, and I could not take over what it says now: something went wrong each time that I tried. "
    "It is set aside for the operator. /forget as a reply erases the message."
)
RECALL_UNREACHABLE = "not known: the index does not answer now"
_FORGOTTEN = "I have forgotten that message. If another one repeats it, such as an answer of mine, forget that one too."

_FAILURES: dict[type[TellUser], str] = {
    ModelUnavailable: "The language model cannot be reached right now. Your message is in my memory; please ask again in a little while.",
    ModelQuotaExhausted: "The language model's account has run out of quota, so I cannot answer until the operator sees to it.",
    ModelRefused: "The language model did not accept my request, so I cannot answer. The operator can see the reason in the log.",
    PromptTooLong: "That was more than the language model can read at once. Please send it in smaller parts.",
    ModelRepliedNothing: "The language model gave an empty answer, twice. Please put it another way, or try again.",
    DeadlinePassed: "That took too long, so I stopped. Please try again, perhaps with a smaller question.",
}


def failure_text(failure: TellUser) -> str:
    """The honest sentence for a failure; never the exception's own text."""
    return _FAILURES.get(type(failure), "Something went wrong, and I could not answer. Please try again.")


def start_text(*, is_offline: bool) -> str:
    """The greeting."""
    greeting = (
        "Hello! I am an assistant that remembers this chat. Tell me things, and ask me about them later."
    )
    notice = f"\n\n{OFFLINE_NOTICE}" if is_offline else ""
    return f"{greeting}{notice}\n\n{HELP}"


def unreadable_text(kind: str) -> str:
    """For a message without text."""
    return f"I can only read text for now, so I cannot see what is in this {kind.replace('_', ' ')}."


def unknown_command_text(name: str) -> str:
    """For a command that we do not have."""
    return f"I do not know the command /{name}. /help lists those that I know."


def memory_text(snapshot: HistorySnapshot, kept: Kept, *, searchable: str) -> str:
    """What is kept of a chat. The summary comes last: nothing that it quotes can change what stands above it."""
    if snapshot.created_at is None:
        return "I keep nothing of this chat."
    since = datetime.fromtimestamp(snapshot.created_at, UTC)
    lines = [
        f"I keep {_count(snapshot.count, 'message')} of this chat. Its memory began {since:%Y-%m-%d %H:%M} UTC.",
        f"In the present conversation: {snapshot.conversation_count}. Found by search: {searchable}.",
        f"Beside them: {_beside(kept.summaries, kept.ledger_turns, kept.artifacts)}.",
    ]
    if snapshot.active_agent:
        lines.append(f"The agent {snapshot.active_agent} answers here, to whom this chat was transferred.")
    lines.append("/forget as a reply erases one message, /reset all of it.")
    if snapshot.summary is not None:
        lines += [
            "",
            "What came earlier in this conversation, in short:",
            "",
            render_summary(snapshot.summary.text),
        ]
    return "\n".join(lines)


def receipt_text(receipt: ErasureReceipt, *, what: str) -> str:
    """The receipt of a reset, with what reading back found."""
    waiting = _count(receipt.updates_forgotten, "waiting update")
    return (
        f"I have erased the memory of {what}.\n\n"
        f"Erased: {_erased(receipt)}, {waiting}.\n"
        f"{_left(receipt)}\n"
        f"{_proof(receipt, 'Something came in while I was reading back; send /reset again to be sure.')}"
    )


def forgotten_text(receipt: ErasureReceipt, *, is_resumed: bool) -> str:
    """The receipt of a /forget. `is_resumed`: an interrupted try may have erased more than this one counts."""
    lines = [_FORGOTTEN, "", f"Erased: {_erased(receipt)}."]
    if is_resumed:
        lines.append("I was interrupted: more may have been erased beside the message than is counted here.")
    proof = _proof(receipt, "Something of it was left. /reset erases all that I keep of this chat.")
    return "\n".join([*lines, _left(receipt), proof])


def _erased(receipt: ErasureReceipt) -> str:
    beside = _beside(receipt.summaries_erased, receipt.ledger_turns_erased, receipt.artifacts_erased)
    return (
        f"{_count(receipt.messages_erased, 'message')}, "
        f"{_count(receipt.vectors_erased, 'search entry', 'search entries')}, {beside}"
    )


def _left(receipt: ErasureReceipt) -> str:
    vectors = "not known" if receipt.vectors_left is None else str(receipt.vectors_left)
    return (
        f"Found on reading back: messages {receipt.messages_left}, search entries {vectors}, "
        f"summaries, tool records and artifacts {receipt.others_left}."
    )


def _proof(receipt: ErasureReceipt, doubt: str) -> str:
    if receipt.is_proven:
        return "Both stores were read back afterwards: nothing is left."
    if receipt.vectors_left is None:
        return (
            "The search index does not answer now: no search can see its entries any more, "
            "and they are erased as soon as it does."
        )
    return doubt


def _beside(summaries: int, ledger_turns: int, artifacts: int) -> str:
    """What is kept beside messages and vectors."""
    return (
        f"{_count(summaries, 'summary', 'summaries')}, {_count(ledger_turns, 'tool record')}, "
        f"{_count(artifacts, 'artifact')}"
    )


def _count(number: int, one: str, many: str = "") -> str:
    return f"{number} {one if number == 1 else many or one + 's'}"
