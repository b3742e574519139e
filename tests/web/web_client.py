"""A client for apps in this process: their event loop runs in a thread of its own."""

import asyncio
import threading
from concurrent.futures import Future
from functools import partialmethod

import httpx


class Client:
    """Starts an app, asks it, ends it."""

    def __init__(self, app, base_url="http://localhost:8000"):
        self.app = app
        self._loop = asyncio.new_event_loop()
        transport = httpx.ASGITransport(app, raise_app_exceptions=False)
        self._http = httpx.AsyncClient(transport=transport, base_url=base_url, timeout=60)
        self._said = {f"lifespan.{name}.complete": Future() for name in ("startup", "shutdown")}
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    def __enter__(self):
        self._thread.start()
        self.run(self._live())
        self._said["lifespan.startup.complete"].result(60)
        return self

    def __exit__(self, *_):
        self._loop.call_soon_threadsafe(self._messages.put_nowait, {"type": "lifespan.shutdown"})
        self._said["lifespan.shutdown.complete"].result(60)
        self.run(self._http.aclose())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def run(self, work):
        """Have something done in the app's loop."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(120)

    def ask(self, method, path, **options):
        return self.run(self._http.request(method, path, **options))

    def post_together(self, bodies):
        """Ask many things at once: (path, body) each."""

        async def together():
            return await asyncio.gather(*(self._http.post(path, json=body) for path, body in bodies))

        return self.run(together())

    get = partialmethod(ask, "GET")
    post = partialmethod(ask, "POST")

    async def _live(self):
        self._messages = asyncio.Queue()
        self._messages.put_nowait({"type": "lifespan.startup"})

        async def send(message):
            self._said[message["type"]].set_result(None)

        self._task = asyncio.ensure_future(self.app({"type": "lifespan"}, self._messages.get, send))
