"""getUpdates and the methods of the webhook."""

from typing import Any

from simulator.api.payloads import DeleteWebhook, GetUpdates, Nothing, SetWebhook, strings_of
from simulator.api.polling import MAX_TIMEOUT_S, MAX_UPDATES
from simulator.api.simulation import Simulation
from simulator.api.updates import DEFAULT_KINDS, UPDATE_KINDS, Delivery
from simulator.api.webhook import MAX_CONNECTIONS, WebhookSettings, check_secret, check_url


async def get_updates(sim: Simulation, payload: GetUpdates) -> list[dict[str, Any]]:
    _allow(sim, payload.allowed_updates)
    limit = min(max(payload.limit, 1), MAX_UPDATES)
    timeout = min(max(payload.timeout, 0), MAX_TIMEOUT_S)
    updates = await sim.polling.fetch(offset=payload.offset, limit=limit, timeout_s=timeout)
    for update in updates:
        sim.queue.record(update.id, Delivery(at=sim.config.clock(), status=200))
    return [update.as_json() for update in updates]


async def set_webhook(sim: Simulation, payload: SetWebhook) -> bool:
    """Set the webhook; an empty URL deletes it."""
    settings = None
    if payload.url:
        check_url(payload.url)
        check_secret(payload.secret_token)
        settings = WebhookSettings(
            url=payload.url,
            secret_token=payload.secret_token,
            max_connections=min(max(payload.max_connections, 1), MAX_CONNECTIONS),
        )
    _allow(sim, payload.allowed_updates)
    if payload.drop_pending_updates:
        sim.queue.clear()
    sim.webhook.put(settings)
    return True


async def delete_webhook(sim: Simulation, payload: DeleteWebhook) -> bool:
    if payload.drop_pending_updates:
        sim.queue.clear()
    sim.webhook.put(None)
    return True


async def get_webhook_info(sim: Simulation, _: Nothing) -> dict[str, Any]:
    info = sim.webhook.fields() | {"pending_update_count": len(sim.queue)}
    if sim.queue.allowed != DEFAULT_KINDS:
        info["allowed_updates"] = sorted(sim.queue.allowed)
    return info


def _allow(sim: Simulation, kinds: list[Any] | None) -> None:
    """Set the allowed kinds. None changes nothing; a list without a known kind means the default."""
    if kinds is not None:
        allowed = UPDATE_KINDS & {kind.lower() for kind in strings_of(kinds)}
        sim.queue.allowed = allowed or DEFAULT_KINDS
