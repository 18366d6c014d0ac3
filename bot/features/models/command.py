"""/model shows the models that people may choose, with buttons, and changes the model of a chat or topic."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from bot.features.parts import Built, Parts
from bot.model_choices import chosen_model
from bot.transport.controls import MODEL_BUTTON
from bot.transport.rich_text import RichText
from bot.turn.commands import CommandCall
from bot.turn.commit import Reply
from bot.turn.menus import choice_buttons
from memory.characters import one_line
from memory.summary.compression import CompressionLimits, is_due


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCommand:
    """Shows and changes the model. Anybody may look; in groups only administrators may choose."""

    models: Sequence[str]
    """The models that people may choose, the default first."""
    compression: Mapping[str, CompressionLimits]
    """By chosen model, "" for the default; empty if no model writes summaries."""
    loaded_limit: int
    """Newest messages that are loaded with each turn."""

    async def run(self, call: CommandCall) -> Reply:
        """Show the models, or choose the one that the command or the button names.

        A button of a model that is gone gets a notice and the present list.
        """
        name = one_line(call.argument).casefold()
        model = next((each for each in self.models if name in (each.casefold(), _digest(each))), None)
        if model is not None:
            return await call.refused() or self._choose(call, model)
        if name and call.update.callback is None:
            return Reply(rich=RichText(text=call.words("model-unknown", model=one_line(call.argument))))
        notice = call.words("button-unknown") if name else ""
        return replace(self._list(call, call.snapshot.choices.model), notice=notice)

    def _choose(self, call: CommandCall, model: str) -> Reply:
        """Keep the choice. A conversation that is too long for the model's window is compressed at once."""
        chosen = chosen_model(model, self.models)
        limits = self.compression.get(chosen)
        compresses = limits is not None and is_due(call.snapshot, (), limits, loaded_limit=self.loaded_limit)
        return replace(self._list(call, chosen), meta={"model": chosen}, compresses=compresses)

    def _list(self, call: CommandCall, choice: str) -> Reply:
        """Return the present model, and a button for each model if there are several."""
        current = chosen_model(choice, self.models) or self.models[0]
        text = call.words("model-current", model=current)
        if len(self.models) == 1:
            return Reply(rich=RichText(text=text))
        hint = call.words("model-choose", place="group" if call.is_group else "private")
        labels = {_digest(each): each for each in self.models}
        buttons = choice_buttons(MODEL_BUTTON, labels, _digest(current))
        return Reply(rich=RichText(text=f"{text} {hint}"), buttons=buttons)


def _digest(model: str) -> str:
    """Return the value of a model's button: a digest, because data has at most 64 bytes."""
    return hashlib.sha256(model.encode()).hexdigest()[:16]


async def build(parts: Parts) -> Built:
    """Return the command and its buttons."""
    chat_models = parts.outside.models.chat
    model = ModelCommand(
        models=[chat_models[each].name for each in parts.settings.model_names],
        compression=parts.limits.compression,
        loaded_limit=parts.limits.window_messages,
    )
    return Built(commands={"model": model.run}, buttons={MODEL_BUTTON: model.run})
