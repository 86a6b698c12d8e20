"""Stands between Playwright and Debian's Firefox, which both speak WebDriver BiDi, almost.

Playwright sends a command that the long-term Firefox does not know yet, and has none for touch:
the first is answered here, and with --finger=RADIUS every click arrives as a touch of that radius.
Run in Firefox's place, with the arguments that Playwright gives it.
"""

import asyncio
import json
import re
import sys
from typing import Any

from aiohttp import ClientSession, ClientWebSocketResponse, web

LISTENS = re.compile(r"WebDriver BiDi listening on (ws://\S+)")
# Colours of the page: nothing that is tried in Firefox depends on them.
UNKNOWN = "emulation.setMediaFeaturesOverride"


class Bridge:
    def __init__(self, finger: float) -> None:
        self.finger = finger
        self.behind = ""

    async def serve(self, program: str, arguments: list[str]) -> int:
        firefox = await asyncio.create_subprocess_exec(
            program, *arguments, stderr=asyncio.subprocess.PIPE
        )
        async for line in firefox.stderr:
            text = line.decode(errors="replace").rstrip()
            if match := LISTENS.search(text):
                self.behind = match[1]
                text = f"WebDriver BiDi listening on ws://127.0.0.1:{await self._listen()}"
            sys.stderr.write(f"{text}\n")
            sys.stderr.flush()
        return await firefox.wait()

    async def _listen(self) -> int:
        application = web.Application()
        application.router.add_get("/session", self._session)
        runner = web.AppRunner(application)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        port: int = runner.addresses[0][1]
        return port

    async def _session(self, request: web.Request) -> web.WebSocketResponse:
        playwright = web.WebSocketResponse(max_msg_size=0)
        await playwright.prepare(request)
        async with ClientSession() as session:
            address = f"{self.behind}/session"
            async with session.ws_connect(address, max_msg_size=0) as firefox:
                back = asyncio.create_task(_hand_back(firefox, playwright))
                async for message in playwright:
                    await self._hand_on(json.loads(message.data), firefox, playwright)
                back.cancel()
        return playwright

    async def _hand_on(
        self,
        command: dict[str, Any],
        firefox: ClientWebSocketResponse,
        playwright: web.WebSocketResponse,
    ) -> None:
        if command["method"] == UNKNOWN:
            done = {"type": "success", "id": command["id"], "result": {}}
            await playwright.send_json(done)
            return
        if command["method"] == "input.performActions" and self.finger:
            self._touch(command["params"]["actions"])
        await firefox.send_json(command)

    def _touch(self, sources: list[dict[str, Any]]) -> None:
        for source in sources:
            if source["type"] != "pointer":
                continue
            source["parameters"] = {"pointerType": "touch"}
            size = round(2 * self.finger)
            for action in source["actions"]:
                if action["type"] != "pointerUp":
                    action |= {"width": size, "height": size}


async def _hand_back(firefox: ClientWebSocketResponse, playwright: web.WebSocketResponse) -> None:
    async for message in firefox:
        await playwright.send_str(message.data)


def main() -> None:
    finger = [argument for argument in sys.argv[2:] if argument.startswith("--finger=")]
    arguments = [argument for argument in sys.argv[2:] if argument not in finger]
    radius = float(finger[0].partition("=")[2]) if finger else 0
    sys.exit(asyncio.run(Bridge(radius).serve(sys.argv[1], arguments)))


if __name__ == "__main__":
    main()
