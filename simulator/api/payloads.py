"""Parameters of each Bot API method. Errors have Telegram's wording."""

import json
from typing import Annotated, Any, ClassVar, Self, TypeVar, cast

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError

from simulator.api.errors import BadRequest
from simulator.api.files import Upload

PayloadT = TypeVar("PayloadT", bound="Payload")


def _decode(value: object) -> object:
    """Decode a nested object: it is a JSON text, except in a JSON body."""
    if not isinstance(value, str):
        return value
    return parse_json(value) if value.strip() else None


def _to_bool(value: object) -> bool:
    """Read a flag as tdlib's to_bool: true, yes and 1 are true, other values are false."""
    return str(value).lower() in {"true", "yes", "1"}


def _to_int(value: object) -> int:
    """Read a number; Telegram reads invalid ones as 0."""
    try:
        return int(value) if isinstance(value, bool | float) else int(str(value))
    except (ValueError, OverflowError):
        return 0


def _to_text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)


Decoded = Annotated[Any, BeforeValidator(_decode)]
DecodedObject = Annotated[dict[str, Any] | None, BeforeValidator(_decode)]
DecodedList = Annotated[list[Any] | None, BeforeValidator(_decode)]
Flag = Annotated[bool, BeforeValidator(_to_bool)]
Number = Annotated[int, BeforeValidator(_to_int)]
Text = Annotated[str, BeforeValidator(_to_text)]


_TEXT_WORDINGS = {
    "entities": "can't parse entities JSON object",
    "caption_entities": "can't parse entities JSON object",
    "reply_markup": "object expected as reply markup",
    "reply_parameters": "can't parse reply parameters JSON object",
    "link_preview_options": "can't parse link preview options JSON object",
}
_SCOPE_WORDING = "can't parse BotCommandScope JSON object"


class Payload(BaseModel):
    """Parameters of one method. `wordings` has the errors of fields that cannot be read."""

    model_config = ConfigDict(frozen=True, extra="ignore")
    wordings: ClassVar[dict[str, str]] = {}

    @classmethod
    def read(cls, parameters: dict[str, Any]) -> Self:
        """Read the parameters without files. Raises BadRequest with the wording of the first invalid field."""
        present = {
            name: value
            for name, value in parameters.items()
            if value is not None and not isinstance(value, Upload)
        }
        try:
            return cls.model_validate(present)
        except ValidationError as error:
            field = str(error.errors(include_url=False)[0]["loc"][0])
            raise BadRequest(cls.wordings.get(field, f"can't parse {field}")) from None


class Nothing(Payload):
    """A method without parameters."""


class ReplyParameters(Payload):
    message_id: Number = 0
    chat_id: Text = ""
    quote: Text = ""
    allow_sending_without_reply: Flag = False


class SendMessage(Payload):
    wordings: ClassVar[dict[str, str]] = _TEXT_WORDINGS
    chat_id: Text = ""
    text: Text = ""
    parse_mode: Text = ""
    entities: Decoded = None
    message_thread_id: Number = 0
    direct_messages_topic_id: Number = 0
    reply_parameters: DecodedObject = None
    reply_markup: DecodedObject = None
    link_preview_options: DecodedObject = None


class CaptionFields(Payload):
    """A caption with the interface of a text."""

    caption: Text = ""
    parse_mode: Text = ""
    caption_entities: Decoded = None

    @property
    def text(self) -> str:
        return self.caption

    @property
    def entities(self) -> object:
        return self.caption_entities


class SendFile(CaptionFields):
    """The parameters of a file, which is a file id, or `attach://` and the name of an upload."""

    wordings: ClassVar[dict[str, str]] = _TEXT_WORDINGS
    chat_id: Text = ""
    uploads: dict[str, Any] = {}
    message_thread_id: Number = 0
    direct_messages_topic_id: Number = 0
    reply_parameters: DecodedObject = None
    reply_markup: DecodedObject = None

    @classmethod
    def read(cls, parameters: dict[str, Any]) -> Self:
        """Read the parameters and the files of the form."""
        uploads = {name: value for name, value in parameters.items() if isinstance(value, Upload)}
        return super().read(parameters | {"uploads": uploads})


class SendDocument(SendFile):
    document: Text = ""


class SendPhoto(SendFile):
    photo: Text = ""


class SendVoice(SendFile):
    voice: Text = ""
    duration: Number = 0


class EditMessageCaption(CaptionFields):
    wordings: ClassVar[dict[str, str]] = _TEXT_WORDINGS
    chat_id: Text = ""
    message_id: Number = 0
    reply_markup: DecodedObject = None


class EditMessageReplyMarkup(Payload):
    wordings: ClassVar[dict[str, str]] = _TEXT_WORDINGS
    chat_id: Text = ""
    message_id: Number = 0
    reply_markup: DecodedObject = None


class EditMessageText(Payload):
    wordings: ClassVar[dict[str, str]] = _TEXT_WORDINGS
    inline_message_id: Text = ""
    chat_id: Text = ""
    message_id: Number = 0
    text: Text = ""
    parse_mode: Text = ""
    entities: Decoded = None
    reply_markup: DecodedObject = None
    link_preview_options: DecodedObject = None


class SendMessageDraft(Payload):
    wordings: ClassVar[dict[str, str]] = _TEXT_WORDINGS
    chat_id: Text = ""
    draft_id: Number = 0
    text: Text = ""
    parse_mode: Text = ""
    entities: Decoded = None
    message_thread_id: Number = 0


class MessageAddress(Payload):
    chat_id: Text = ""
    message_id: Number = 0


class SetMessageReaction(Payload):
    wordings: ClassVar[dict[str, str]] = {"reaction": "can't parse reaction types JSON object"}
    chat_id: Text = ""
    message_id: Number = 0
    reaction: DecodedList = None


class SendChatAction(Payload):
    chat_id: Text = ""
    action: Text = ""
    message_thread_id: Number = 0


class ChatAddress(Payload):
    chat_id: Text = ""


class GetChatMember(Payload):
    chat_id: Text = ""
    user_id: Number = 0


class AnswerCallbackQuery(Payload):
    callback_query_id: Text = ""
    text: Text = ""
    show_alert: Flag = False


class AnswerInlineQuery(Payload):
    wordings: ClassVar[dict[str, str]] = {"results": "can't parse inline query results JSON object"}
    inline_query_id: Text = ""
    results: DecodedList = None


class CommandScope(Payload):
    wordings: ClassVar[dict[str, str]] = {"scope": _SCOPE_WORDING}
    scope: DecodedObject = None
    language_code: Text = ""


class ScopeFields(Payload):
    """A BotCommandScope."""

    type: Text = ""
    chat_id: Text = ""
    user_id: Number = 0


class SetMyCommands(Payload):
    wordings: ClassVar[dict[str, str]] = {
        "commands": "can't parse commands JSON object",
        "scope": _SCOPE_WORDING,
    }
    commands: DecodedList = None
    scope: DecodedObject = None
    language_code: Text = ""


class GetFile(Payload):
    file_id: Text = ""


class GetUpdates(Payload):
    offset: Number = 0
    limit: Number = 100
    timeout: Number = 0
    allowed_updates: DecodedList = None


class SetWebhook(Payload):
    wordings: ClassVar[dict[str, str]] = {"allowed_updates": "can't parse allowed_updates JSON object"}
    url: Text = ""
    secret_token: Text = ""
    max_connections: Number = 40
    allowed_updates: DecodedList = None
    drop_pending_updates: Flag = False


class DeleteWebhook(Payload):
    drop_pending_updates: Flag = False


def parse_json(text: str) -> object:
    """Parse JSON that can be written back.

    Raises ValueError, also for deep nesting and for NaN. Raises UnicodeError for half of a surrogate pair, which UTF-8
    cannot encode.
    """
    try:
        value = json.loads(text)
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except RecursionError:
        raise ValueError("nested too deeply") from None
    return value


def strings_of(values: list[Any] | None) -> list[str]:
    """Return the strings of a list, without other values."""
    return [value for value in cast("list[object]", values or []) if isinstance(value, str)]
