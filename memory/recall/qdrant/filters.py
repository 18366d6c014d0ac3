"""Filters for Qdrant. All of them are built here, and none without a context."""

from collections.abc import Collection
from uuid import UUID, uuid5

from qdrant_client import models as q

from memory.errors import MissingContext
from memory.recall.vector_index import Where

_NAMESPACE = UUID("0b0f3f4e-6c0c-4f3e-9a55-3c1f5c8e7a21")


def point_id(context_id: str, message_id: str) -> str:
    """Return the id of a message's point. It never changes, so that indexing twice is harmless."""
    return str(uuid5(_NAMESPACE, f"{context_id}\x1f{message_id}"))


def scope_of(context_id: str, epoch: int) -> str:
    """Return the scope of a search: one context in one epoch. The epoch follows the last slash."""
    return f"{context_id}/{epoch}"


def search_filter(
    context_id: str, epoch: int, *, where: Where | None = None, sequences: Collection[int] | None = None
) -> q.Filter:
    """Return a filter for the messages of this context and epoch that may be found.

    Context and epoch are one condition on one field. Two conditions take twice as long, because each is looked up for
    every message of the chat.
    """
    if not context_id:
        raise MissingContext
    must: list[q.Condition] = [_is("scope", scope_of(context_id, epoch))]
    if sequences is not None:
        must.append(_any_of("sequence", sorted(sequences)))
    if where is None:
        return q.Filter(must=must)
    without: list[q.Condition] = [_is_message_of(context_id, where.excluded)] if where.excluded else []
    return q.Filter(must=[*must, *_conditions(where)], must_not=without or None)


def erasure_filter(
    context_id: str,
    *,
    epoch: int | None = None,
    below_epoch: int | None = None,
    message_ids: Collection[str] | None = None,
) -> q.Filter:
    """Return a filter for points of this context, by fields of every layout: erasures cover former collections too."""
    if not context_id:
        raise MissingContext
    must: list[q.Condition] = [_is("context", context_id)]
    if epoch is not None:
        must.append(_within("epoch", gte=epoch, lt=epoch + 1))
    if below_epoch is not None:
        must.append(_within("epoch", lt=below_epoch))
    if message_ids is not None:
        must.append(_is_message_of(context_id, message_ids))
    return q.Filter(must=must)


def filter_of_contexts(context_ids: Collection[str]) -> q.Filter:
    """Return a filter for every point of these contexts. Raises MissingContext if one of them, or all, are missing."""
    if not context_ids or not all(context_ids):
        raise MissingContext
    return q.Filter(must=[_any_of("context", sorted(context_ids))])


def _conditions(where: Where) -> list[q.Condition]:
    conditions: list[q.Condition] = []
    if where.before_sequence is not None:
        conditions.append(_within("sequence", lt=where.before_sequence))
    if where.sent_from is not None or where.sent_before is not None:
        conditions.append(_within("sent_at", gte=where.sent_from, lt=where.sent_before))
    if where.sender_ids is not None:
        conditions.append(_any_of("sender_id", sorted(where.sender_ids)))
    if where.roles is not None:
        conditions.append(_any_of("role", sorted(where.roles)))
    return conditions


def _is(key: str, value: str) -> q.FieldCondition:
    return q.FieldCondition(key=key, match=q.MatchValue(value=value))


def _any_of(key: str, values: list[int] | list[str]) -> q.FieldCondition:
    return q.FieldCondition(key=key, match=q.MatchAny(any=values))


def _within(key: str, *, gte: float | None = None, lt: float | None = None) -> q.FieldCondition:
    return q.FieldCondition(key=key, range=q.Range(gte=gte, lt=lt))


def _is_message_of(context_id: str, message_ids: Collection[str]) -> q.HasIdCondition:
    return q.HasIdCondition(has_id=[point_id(context_id, message) for message in sorted(message_ids)])
