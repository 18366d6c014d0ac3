"""A bare Starlette that stores each update by one Lua call and waits for the disk; its own process, run by ingest.py.

`python benchmarks/rig/bare_server.py SOCKET PORT PATH SECRET`. Its ASGI server and its Redis client are ours.
"""

import sys

import uvicorn
from redis.asyncio import Redis
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

_WAIT_MS = 2_000
_STORE = """
if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'EX', 172800) then
  redis.call('RPUSH', KEYS[2], ARGV[2])
end
"""


def create_app(socket: str, path: str, secret: str) -> Starlette:
    """Return the app: secret, JSON, one script with WAITAOF in one round trip, 200."""
    redis = Redis(unix_socket_path=socket)
    sha = ""

    async def take(request: Request) -> Response:
        nonlocal sha
        if request.headers.get("x-telegram-bot-api-secret-token") != secret:
            return Response(status_code=401)
        body = await request.body()
        update = await request.json()
        sha = sha or await redis.script_load(_STORE)
        pipeline = redis.pipeline(transaction=False)
        box = f"box:{update['message']['chat']['id']}"
        pipeline.evalsha(sha, 2, f"update:{update['update_id']}", box, "1", body)
        pipeline.execute_command("WAITAOF", 1, 0, _WAIT_MS)
        _, (on_disk, _) = await pipeline.execute()
        return JSONResponse({"ok": True}, 200 if on_disk else 503)

    return Starlette(routes=[Route(path, take, methods=["POST"])])


def main() -> None:
    """Serve until SIGTERM."""
    socket, port, path, secret = sys.argv[1:]
    uvicorn.run(
        create_app(socket, path, secret),
        port=int(port),
        http="httptools",
        loop="asyncio",
        ws="none",
        lifespan="off",
        access_log=False,
        log_level="warning",
    )


if __name__ == "__main__":
    main()
