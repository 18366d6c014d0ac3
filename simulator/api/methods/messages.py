"""sendMessage, sendDocument, sendPhoto, sendVoice, sendMessageDraft and sendChatAction."""

from dataclasses import replace
from typing import Any

from simulator.api.api_objects import entity_json, message_json
from simulator.api.contents import FileKind, file_content
from simulator.api.errors import BadRequest, PageError, TooLarge
from simulator.api.files import StoredFile, Upload, image_size, opus_seconds
from simulator.api.formatted_text import MAX_TEXT, format_text
from simulator.api.interactions import DRAFT_LIFE_S
from simulator.api.methods.access import check_not_direct, check_thread, check_topic, writable_chat
from simulator.api.methods.texts import (
    check_place_of_buttons,
    read_caption,
    read_entities,
    read_markup,
    read_text,
)
from simulator.api.payloads import (
    ReplyParameters,
    SendChatAction,
    SendDocument,
    SendFile,
    SendMessage,
    SendMessageDraft,
    SendPhoto,
    SendVoice,
)
from simulator.api.simulation import Simulation
from simulator.api.world import Chat, Message

_ACTION_LIFE_S = 5
_ACTION_NAMES = (
    "typing upload_photo record_video upload_video record_voice upload_voice upload_document choose_sticker"
    " find_location record_video_note upload_video_note record_audio upload_audio cancel"
)
_ACTIONS = frozenset(_ACTION_NAMES.split())


async def send_message(sim: Simulation, payload: SendMessage) -> dict[str, Any]:
    if not payload.text:
        raise BadRequest("message text is empty")
    entities = read_entities(sim, payload)
    markup = read_markup(payload.reply_markup)
    place = _find_place(sim, payload)
    formatted = read_text(payload, entities, too_long="message is too long")
    return _send(
        sim,
        replace(
            place,
            text=formatted.text,
            entities=formatted.entities,
            reply_markup=markup,
            link_preview_options=payload.link_preview_options,
        ),
    )


async def send_document(sim: Simulation, payload: SendDocument) -> dict[str, Any]:
    return _send_file(sim, payload, "document", read_upload(sim, payload, payload.document, "document"))


async def send_photo(sim: Simulation, payload: SendPhoto) -> dict[str, Any]:
    file = read_upload(sim, payload, payload.photo, "photo")
    if file.size > MAX_PHOTO:
        raise TooLarge
    return _send_file(sim, payload, "photo", file)


async def send_voice(sim: Simulation, payload: SendVoice) -> dict[str, Any]:
    """Send a voice message. A file that is no Ogg Opus would become a document in Telegram; here it is refused."""
    file = read_upload(sim, payload, payload.voice, "voice")
    if opus_seconds(file.data) is None:
        raise BadRequest("not an Ogg Opus file: Telegram would send a document")
    return _send_file(sim, payload, "voice", file, duration_s=payload.duration or None)


def _send_file(
    sim: Simulation,
    payload: SendFile,
    kind: FileKind,
    file: Upload | StoredFile,
    *,
    duration_s: int | None = None,
) -> dict[str, Any]:
    entities = read_entities(sim, payload)
    markup = read_markup(payload.reply_markup)
    place = _find_place(sim, payload)
    caption = read_caption(payload, entities)
    try:
        content = file_content(kind, keep_file(sim, file), duration_s=duration_s)
    except PageError as error:
        raise BadRequest(
            "PHOTO_INVALID_DIMENSIONS" if image_size(file.data) else "IMAGE_PROCESS_FAILED"
        ) from error
    return _send(
        sim,
        replace(place, text=caption.text, entities=caption.entities, reply_markup=markup, content=content),
    )


async def send_message_draft(sim: Simulation, payload: SendMessageDraft) -> bool:
    entities = read_entities(sim, payload)
    if payload.draft_id == 0:
        raise BadRequest("invalid draft identifier specified")
    chat = writable_chat(sim, payload.chat_id)
    if chat.type != "private":
        raise BadRequest("TEXTDRAFT_PEER_INVALID")
    thread_id = check_thread(chat, payload.message_thread_id)
    formatted = format_text(payload.text, entities)
    if formatted.length > MAX_TEXT:
        raise BadRequest("message is too long")
    sim.drafts.put(chat.id, payload.draft_id)
    where = {} if thread_id is None else {"message_thread_id": thread_id}
    body: dict[str, Any] = {"chat_id": chat.id, **where, "draft_id": payload.draft_id, "text": formatted.text}
    if formatted.entities:
        body["entities"] = [entity_json(sim.world, entity) for entity in formatted.entities]
    sim.feed.publish("draft", **body, expires_in=DRAFT_LIFE_S)
    return True


async def send_chat_action(sim: Simulation, payload: SendChatAction) -> bool:
    chat = writable_chat(sim, payload.chat_id)
    if payload.action not in _ACTIONS:
        raise BadRequest("wrong parameter action in request")
    check_not_direct(chat)
    thread_id = check_thread(chat, payload.message_thread_id)
    where = {} if thread_id is None else {"message_thread_id": thread_id}
    sim.feed.publish("action", chat_id=chat.id, **where, action=payload.action, expires_in=_ACTION_LIFE_S)
    return True


def thread_of(chat: Chat, thread_id: int | None, replied: Message | None) -> int | None:
    """Return the topic of a message. A reply has the topic of the other message, or a thread in a supergroup."""
    if thread_id is not None or replied is None or not (chat.type == "supergroup" or chat.has_topics):
        return thread_id
    return replied.thread_id if chat.has_topics else replied.thread_id or replied.id


def _find_place(sim: Simulation, payload: SendMessage | SendFile) -> Message:
    """Return an empty message with the chat, topic and reply of the call."""
    chat = writable_chat(sim, payload.chat_id)
    thread_id = check_topic(chat, payload.message_thread_id, payload.direct_messages_topic_id)
    reply = ReplyParameters.read(payload.reply_parameters or {})
    replied = None if payload.reply_parameters is None else _find_replied(sim, chat, reply)
    quote = reply.quote if replied is not None else ""
    if replied is not None and quote not in replied.text:
        raise BadRequest("QUOTE_TEXT_INVALID")
    return Message(
        chat_id=chat.id,
        sender_id=sim.world.bot.id,
        date=sim.now(),
        thread_id=thread_of(chat, thread_id, replied),
        reply_to=replied.id if replied else None,
        quote={"text": quote, "position": 0, "is_manual": True} if quote else None,
    )


def _send(sim: Simulation, message: Message) -> dict[str, Any]:
    check_place_of_buttons(sim.world.chats[message.chat_id], message.reply_markup)
    for draft_id in sim.drafts.take(message.chat_id):
        sim.feed.publish("draft", chat_id=message.chat_id, draft_id=draft_id, text="", expires_in=0)
    posted = sim.world.put_message(replace(message, id=sim.world.next_message_id(message.chat_id)))
    sim.publish_message("message", posted)
    return message_json(sim.world, posted)


def _find_replied(sim: Simulation, chat: Chat, reply: ReplyParameters) -> Message | None:
    in_this_chat = reply.chat_id in {"", str(chat.id)}
    message = sim.world.message(chat.id, reply.message_id) if in_this_chat else None
    if message is None and not reply.allow_sending_without_reply:
        raise BadRequest("message to be replied not found")
    return message


# Bot API documentation, "Sending files".
MAX_SENT = 50 * 1024 * 1024
MAX_PHOTO = 10 * 1024 * 1024
_ATTACHED = "attach://"


def read_upload(sim: Simulation, payload: SendFile, source: str, name: str) -> Upload | StoredFile:
    """Return the file of a call. Raises BadRequest without one, TooLarge for more than 50 MB.

    `source` is a file id, or `attach://` and the name of an upload, which is `name` if it is empty.
    """
    if source and not source.startswith(_ATTACHED):
        stored = sim.files.find(source)
        if stored is None:
            raise BadRequest("wrong file identifier/HTTP URL specified")
        return stored
    upload = payload.uploads.get(source.removeprefix(_ATTACHED) or name)
    if not isinstance(upload, Upload):
        raise BadRequest(f"there is no {name} in the request")
    if not upload.data:
        raise BadRequest("file must be non-empty")
    if len(upload.data) > MAX_SENT:
        raise TooLarge
    return upload


def keep_file(sim: Simulation, file: Upload | StoredFile) -> StoredFile:
    """Store an upload, unless it is stored already."""
    if isinstance(file, StoredFile):
        return file
    return sim.files.add(file.data, name=file.name, mime_type=file.mime_type)
