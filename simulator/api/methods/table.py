"""All methods of the simulator by their names in lower case."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from simulator.api import payloads
from simulator.api.methods import commands, edits, lookups, messages, updates
from simulator.api.payloads import PayloadT
from simulator.api.simulation import Simulation

Call = Callable[[Simulation, dict[str, Any]], Awaitable[object]]


@dataclass(frozen=True, slots=True)
class Method:
    """A method. `call` takes raw parameters and returns the `result`; it raises ApiError."""

    name: str
    call: Call


def _method(
    name: str, payload: type[PayloadT], run: Callable[[Simulation, PayloadT], Awaitable[object]]
) -> tuple[str, Method]:
    async def call(sim: Simulation, parameters: dict[str, Any]) -> object:
        return await run(sim, payload.read(parameters))

    return name.lower(), Method(name, call)


METHODS: dict[str, Method] = dict(
    (
        _method("getMe", payloads.Nothing, lookups.get_me),
        _method("getFile", payloads.GetFile, lookups.get_file),
        _method("getChat", payloads.ChatAddress, lookups.get_chat),
        _method("getChatMember", payloads.GetChatMember, lookups.get_chat_member),
        _method("getChatAdministrators", payloads.ChatAddress, lookups.get_chat_administrators),
        _method("getChatMemberCount", payloads.ChatAddress, lookups.get_chat_member_count),
        _method("getUpdates", payloads.GetUpdates, updates.get_updates),
        _method("setWebhook", payloads.SetWebhook, updates.set_webhook),
        _method("deleteWebhook", payloads.DeleteWebhook, updates.delete_webhook),
        _method("getWebhookInfo", payloads.Nothing, updates.get_webhook_info),
        _method("sendMessage", payloads.SendMessage, messages.send_message),
        _method("sendDocument", payloads.SendDocument, messages.send_document),
        _method("sendPhoto", payloads.SendPhoto, messages.send_photo),
        _method("sendVoice", payloads.SendVoice, messages.send_voice),
        _method("sendMessageDraft", payloads.SendMessageDraft, messages.send_message_draft),
        _method("sendChatAction", payloads.SendChatAction, messages.send_chat_action),
        _method("editMessageText", payloads.EditMessageText, edits.edit_message_text),
        _method("editMessageCaption", payloads.EditMessageCaption, edits.edit_message_caption),
        _method("editMessageReplyMarkup", payloads.EditMessageReplyMarkup, edits.edit_message_reply_markup),
        _method("deleteMessage", payloads.MessageAddress, edits.delete_message),
        _method("setMessageReaction", payloads.SetMessageReaction, edits.set_message_reaction),
        _method("answerCallbackQuery", payloads.AnswerCallbackQuery, edits.answer_callback_query),
        _method("answerInlineQuery", payloads.AnswerInlineQuery, edits.answer_inline_query),
        _method("setMyCommands", payloads.SetMyCommands, commands.set_my_commands),
        _method("getMyCommands", payloads.CommandScope, commands.get_my_commands),
        _method("deleteMyCommands", payloads.CommandScope, commands.delete_my_commands),
    )
)
