"""/model shows the models that people may choose, with buttons, and changes the model of a chat or topic."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from bot.features.parts import Built, Parts
from bot.model_choices import chosen_model
from bot.transport.controls import MODEL_BUTTON
from bot.transport.rich_text import RichText
from bot.transport.telegram_api import Button
from bot.turn.commands import CommandCall
from bot.turn.commit import Reply
from bot.turn.permissions import Permissions
from memory.characters import one_line
from memory.summary.compression import CompressionLimits, is_due


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCommand:
    """Shows and changes the model. Anybody may look; in groups only administrators may choose."""

    models: Sequence[str]
    """The models that people may choose, the default first."""
    permissions: Permissions
    compression: Mapping[str, CompressionLimits]
    """By chosen model, "" for the default; empty if no model writes summaries."""
    loaded_limit: int
    """Newest messages that are loaded with each turn."""

    async def run(self, call: CommandCall) -> Reply:
        """Show the models, or choose the one that the command names."""
        name = one_line(call.argument)
        if not name:
            return self._list(call, call.snapshot.choices.model)
        model = next((each for each in self.models if each.casefold() == name.casefold()), None)
        if model is None:
            return Reply(rich=RichText(text=call.words("model-unknown", model=name)))
        refusal = await self.permissions.refusal_for(call.message)
        return self._choose(call, model) if refusal is None else Reply(text=call.words(refusal))

    async def press(self, call: CommandCall) -> Reply:
        """Choose the model of the button. A button of a model that is gone gets a notice and the present list."""
        model = next((each for each in self.models if _data(each) == call.argument), None)
        if model is None:
            reply = replace(
                self._list(call, call.snapshot.choices.model), notice=call.words("button-unknown")
            )
        else:
            reply = self._choose(call, model)
        return replace(reply, edits=call.menu)

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
        buttons = [
            Button(text=f"✓ {each}" if each == current else each, data=_data(each), row=row)
            for row, each in enumerate(self.models)
        ]
        return Reply(rich=RichText(text=f"{text} {hint}"), buttons=buttons)


def _data(model: str) -> str:
    """Return the data of a model's button: a digest, because data has at most 64 bytes."""
    return f"{MODEL_BUTTON}:{hashlib.sha256(model.encode()).hexdigest()[:16]}"


async def build(parts: Parts) -> Built:
    """Return the command and its buttons."""
    chat_models = parts.outside.models.chat
    model = ModelCommand(
        models=[chat_models[each].name for each in parts.settings.model_names],
        permissions=parts.permissions,
        compression=parts.limits.compression,
        loaded_limit=parts.limits.window_messages,
    )
    return Built(commands={"model": model.run}, buttons={MODEL_BUTTON: model.press})
