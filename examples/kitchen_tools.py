"""Example tools of an agent: plain typed functions. Their docstrings and annotations are what the model sees."""

from html import escape
from typing import Annotated, Literal

from pydantic import Field

from bot.agent.context import AgentContext
from bot.agent.files import File
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


def recipe_table(ingredients: dict[str, float]) -> File:
    """Send a recipe's ingredients as a table (CSV)."""
    # The chat gets the file with the answer; the model reads one line about it.
    return File.table("recipe.csv", [("ingredient", "amount"), *ingredients.items()])


def recipe_chart(ingredients: dict[str, Annotated[float, Field(gt=0)]]) -> list[object]:
    """Send a recipe's ingredients as a bar chart (SVG)."""
    if not ingredients:
        raise ToolFailed("There are no ingredients. Ask for the recipe first.")
    most = max(ingredients.values())
    bars = "".join(
        f'<rect y="{24 * row}" width="{200 * amount / most:.0f}" height="20" fill="#4a90d9"/>'
        f'<text x="206" y="{24 * row + 15}" font-size="14">{escape(name)}: {amount:g}</text>'
        for row, (name, amount) in enumerate(ingredients.items())
    )
    chart = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="420" height="{24 * len(ingredients)}">{bars}</svg>'
    )
    return [File("recipe.svg", chart), f"The longest bar is {most:g}."]
