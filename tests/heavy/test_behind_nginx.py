"""A real proxy that terminates TLS, with the configuration that the project ships."""

import re
import shutil
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPResponse, HTTPSConnection
from pathlib import Path

import pytest
from django.conf import settings

from tests.config.environment import untouched

pytestmark = pytest.mark.system

# Linux answers on every address of 127.0.0.0/8, so the proxy can ask from one that is its own.
PROXY_ASKS_FROM = "127.0.0.2"
PRETENDED = {"X-Forwarded-For": "198.51.100.9", "X-Forwarded-Proto": "https"}


@dataclass
class Site:
    proxy: int
    app: int
    trusted: ssl.SSLContext

    def through_the_proxy(self, path: str, **headers: str) -> HTTPResponse:
        asked = HTTPSConnection("localhost", self.proxy, context=self.trusted, timeout=30)
        asked.request("GET", path, headers=headers)
        return asked.getresponse()

    def past_the_proxy(self, path: str, **headers: str) -> HTTPResponse:
        asked = HTTPConnection("127.0.0.1", self.app, timeout=30)
        asked.request("GET", path, headers={"Host": "localhost", **headers})
        return asked.getresponse()


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("site")
    proxy, app = free_port(), free_port()
    make_certificate(folder)
    environment = untouched(
        DATA_DIR=str(folder / "data"),
        DEBUG="0",
        SECRET_KEY="s" * 50,
        IDENTITY_KEY="i" * 50,
        PUBLIC_URL="https://localhost",
        BEHIND_PROXY="1",
        PROXIES=PROXY_ASKS_FROM,
        LOG_FORMAT="json",
    )
    for command in (["migrate", "-v0"], ["collectstatic", "--noinput", "-v0"]):
        manage = [sys.executable, "manage.py", *command]
        subprocess.run(manage, cwd=settings.BASE_DIR, env=environment, check=True)
    granian = [sys.executable, "-m", "granian", "--interface", "wsgi", "--port", str(app)]
    processes = [
        subprocess.Popen(
            [*granian, "config.wsgi:application"], cwd=settings.BASE_DIR, env=environment
        ),
        subprocess.Popen([nginx(), "-c", configuration(folder, proxy, app)]),
    ]
    found = Site(proxy, app, ssl.create_default_context(cafile=str(folder / "site.pem")))
    try:
        while not is_served(found):
            assert [process.poll() for process in processes] == [None, None]
            time.sleep(0.1)
        yield found
    finally:
        for process in processes:
            process.terminate()
            process.wait()


def nginx() -> str:
    program = shutil.which("nginx")
    assert program, "There is no nginx: `make test-all` installs it."
    return program


def make_certificate(folder: Path) -> None:
    request = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"]
    names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
    files = ["-keyout", str(folder / "site.key"), "-out", str(folder / "site.pem")]
    subprocess.run([*request, *names, *files], check=True, capture_output=True)


def configuration(folder: Path, proxy: int, app: int) -> str:
    """What we ship, with the test's own ports, certificate and addresses."""
    shipped = (settings.BASE_DIR / "config/nginx.conf.example").read_text()
    for pattern, ours in {
        r"listen 443 ssl;": f"listen 127.0.0.1:{proxy} ssl;",
        r"study\.example;": "localhost;",
        r"/etc/ssl/study\.example\.": f"{folder}/site.",
        r"proxy_pass http://127\.0\.0\.1:8000;": (
            f"proxy_pass http://127.0.0.1:{app}; proxy_bind {PROXY_ASKS_FROM};"
        ),
    }.items():
        shipped, changed = re.subn(pattern, ours, shipped)
        assert changed
    scratch = "".join(
        f"{kind}_temp_path {folder}/{kind};"
        for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    file = folder / "nginx.conf"
    file.write_text(
        f"daemon off; pid {folder}/pid; error_log stderr; events {{}}\n"
        f"http {{ access_log off; {scratch} server {{ {shipped} }} }}\n"
    )
    return str(file)


def is_served(site: Site) -> bool:
    try:
        return site.through_the_proxy("/healthz").status == 200
    except OSError:
        return False


def is_seen_over_tls(response: HTTPResponse) -> bool:
    return "Strict-Transport-Security" in response.headers


def test_serves_over_tls(site: Site) -> None:
    page = site.through_the_proxy("/admin/login/")
    assert page.status == 200
    assert is_seen_over_tls(page)
    assert "Secure" in page.headers["Set-Cookie"]


def test_takes_the_proxys_word_not_the_clients(site: Site) -> None:
    """Wrong tokens are slowed down by address: a client that names another each time gains
    nothing."""
    statuses = [
        site.through_the_proxy(
            "/api/runs/", Authorization="Token wrong", **{"X-Forwarded-For": f"198.51.100.{n}"}
        ).status
        for n in range(40)
    ]
    assert statuses[0] == 401
    assert statuses[-1] == 429


def test_believes_nobody_who_comes_past_the_proxy(site: Site) -> None:
    assert not is_seen_over_tls(site.past_the_proxy("/admin/login/", **PRETENDED))


def test_passes_the_requests_id_on(site: Site) -> None:
    assert re.fullmatch(r"[0-9a-f]{32}", site.through_the_proxy("/").headers["X-Request-ID"])


def test_keeps_the_metrics_inside(site: Site) -> None:
    assert site.through_the_proxy("/metrics").status == 404
