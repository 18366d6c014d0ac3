"""Example tools of an agent: plain typed functions. Their docstrings and annotations are what the model sees."""

from typing import Annotated, Literal

from pydantic import Field

from bot.agent.context import AgentContext
from bot.errors import ToolFailed

Unit = Literal["ml", "l", "tsp", "tbsp", "cup"]

MILLILITRES: dict[Unit, float] = {"ml": 1, "l": 1000, "tsp": 5, "tbsp": 15, "cup": 250}
"""Metric measures."""


def convert(amount: float, from_unit: Unit, to_unit: Unit) -> str:
    """Convert an amount of liquid from one kitchen measure to another."""
    converted = amount * MILLILITRES[from_unit] / MILLILITRES[to_unit]
    return f"{amount:g} {from_unit} = {converted:.6g} {to_unit}"


def scale_recipe(
    ingredients: Annotated[dict[str, float], Field(description="Amount of each ingredient, by its name")],
    servings: Annotated[int, Field(ge=1, description="How many the recipe is for")],
    wanted: Annotated[int, Field(ge=1, description="How many it should be for")],
) -> dict[str, float]:
    """Scale a recipe to another number of servings."""
    if not ingredients:
        # The words of a ToolFailed go to the model, which can then do better.
        raise ToolFailed("There are no ingredients. Ask for the recipe first.")
    return {name: round(amount * wanted / servings, 2) for name, amount in ingredients.items()}


async def shopping_list(context: AgentContext) -> list[str]:
    """List what people in this chat wanted to buy: what follows "buy" in messages that begin with it."""
    # The context is handed in, and hidden from the model. What it gives is of this chat only.
    messages = [message async for message in context.chat_history.messages() if message.role == "user"]
    words = [message.text.partition(" ") for message in messages]
    return [item.strip() for verb, _, item in words if verb.casefold() == "buy" and item.strip()]
