"""A stand-in for an OpenAI-compatible endpoint: it answers as it is told, and counts."""

import json
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

VERSION = "stand-in-2026-11-01"


@dataclass(frozen=True)
class Said:
    """What the endpoint does with one request."""

    text: str = ""
    status: int = 200
    # Promises more than it sends.
    cut_off: bool = False
    # Waits for this before it answers.
    after: threading.Event | None = None
    stop: str = "stop"


# From the prompt, and how often it has been asked before.
Script = Callable[[str, int], Said]
# From the address and the body of a request: the status and the document.
Documents = Callable[[str, dict[str, Any]], tuple[int, dict[str, Any]]]


@dataclass
class Endpoint:
    url: str
    script: Script
    # Every request: its address, its body, its key.
    requests: list[tuple[str, dict[str, Any], str]] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def prompts(self) -> Counter[str]:
        """How often each prompt was asked."""
        return Counter(_prompt(body) for _, body, _ in self.requests)

    def take(self, path: str, body: dict[str, Any], key: str) -> Said:
        prompt = _prompt(body)
        with self.lock:
            before = self.prompts[prompt]
            self.requests.append((path, body, key))
        said = self.script(prompt, before)
        if said.after is not None:
            said.after.wait(timeout=60)
        return said


def _prompt(body: dict[str, Any]) -> str:
    if "messages" not in body:
        return str(body.get("prompt", body.get("content")))
    return "\n\n".join(str(message["content"]) for message in body["messages"])


def no_script(prompt: str, before: int) -> Said:
    return Said("no")


@contextmanager
def endpoint(script: Script = no_script, documents: Documents | None = None) -> Iterator[Endpoint]:
    """`documents` say by themselves what is sent, instead of the script."""
    served = Endpoint("", script)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            said = served.take(self.path, body, self.headers.get("Authorization", ""))
            status, document = said.status, _document(said, self.path)
            if documents is not None:
                status, document = documents(self.path, body)
            sent = json.dumps(document).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(sent)))
            self.send_header("retry-after-ms", "10")
            self.end_headers()
            self.wfile.write(sent[: len(sent) // 2] if said.cut_off else sent)

        def log_message(self, *_arguments: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    served.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    try:
        yield served
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _document(said: Said, path: str) -> dict[str, Any]:
    if said.status != 200:
        return {"error": {"message": said.text or "no", "type": "error", "code": None}}
    choice: dict[str, Any] = {"index": 0, "finish_reason": said.stop}
    if path.endswith("/chat/completions"):
        choice["message"] = {"role": "assistant", "content": said.text}
    else:
        choice["text"] = said.text
    return {
        "id": "1",
        "object": "chat.completion" if "message" in choice else "text_completion",
        "created": 1,
        "model": VERSION,
        "choices": [choice],
        "usage": {"prompt_tokens": 100, "completion_tokens": 5, "total_tokens": 105},
    }
