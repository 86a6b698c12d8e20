"""Typed values from the environment; a bad one stops the start with one sentence."""

import os
import re
import secrets
import tempfile
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from urllib.parse import parse_qsl, unquote, urlsplit

TRUE = {"1", "true", "yes", "on"}
FALSE = {"0", "false", "no", "off"}
SQLITE_WAIT_S = 20
STATEMENT_S = 3600
SILENT_S = 10
PRICED = re.compile(r"([^=]+)=([0-9]+(?:\.[0-9]+)?)/([0-9]+(?:\.[0-9]+)?)")
POSTGRES = "write postgres://user:password@host:port/name"


class EnvironmentRefused(SystemExit):
    """Ends the process with its sentence and status 1, whichever program loads the settings."""


def text(name: str, default: str) -> str:
    return os.environ.get(name, "").strip() or default


def required(name: str, why: str) -> str:
    value = text(name, "")
    if not value:
        raise EnvironmentRefused(f"{name} is not set: {why}.")
    return value


def boolean(name: str, *, default: bool) -> bool:
    value = text(name, "1" if default else "0").lower()
    if value not in TRUE | FALSE:
        raise EnvironmentRefused(f"{name} is {value!r}: set it to 1 or 0.")
    return value in TRUE


def choice(name: str, choices: list[str]) -> str:
    """One of them; the first where none is set."""
    value = text(name, choices[0])
    if value not in choices:
        raise EnvironmentRefused(f"{name} is {value!r}: set it to {' or '.join(choices)}.")
    return value


def number(name: str, default: int, *, least: int = 1) -> int:
    value = text(name, str(default))
    if not (value.isascii() and value.isdigit() and len(value) <= 9 and int(value) >= least):
        raise EnvironmentRefused(f"{name} is {value!r}: set it to a whole number from {least}.")
    return int(value)


def seconds(name: str) -> int | None:
    value = text(name, "")
    if value and not (value.isdecimal() and 1 <= int(value) <= 3600):
        raise EnvironmentRefused(f"{name} is {value!r}: set it to a number of seconds, up to 3600.")
    return int(value) if value else None


def words(name: str) -> list[str]:
    return [word for part in text(name, "").split(",") if (word := part.strip())]


def prices(name: str) -> dict[str, tuple[float, float] | None]:
    """The two prices behind a word's last “=”, by word; None where there are none."""
    known: dict[str, tuple[float, float] | None] = {}
    for word in words(name):
        match = PRICED.fullmatch(word)
        if match is None and "=" in word:
            raise EnvironmentRefused(
                f"{name} holds {word!r}: write the prices of a million tokens read and written "
                "behind it, such as openai/gpt-4o-mini=0.15/0.60, or none."
            )
        known[match[1] if match else word] = (float(match[2]), float(match[3])) if match else None
    return known


def folder(name: str, default: Path) -> Path:
    """A folder that exists afterwards, readable only by this user if it had to be made."""
    path = Path(text(name, str(default))).expanduser().absolute()
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as problem:
        raise EnvironmentRefused(
            f"The folder {path} can't be made ({problem.strerror}): "
            f"make it writable, or set {name} to another one."
        ) from problem
    return path


def ensure_secret(path: Path, *, length: int = 48, first: str = "") -> str:
    """The secret that a file keeps; the first call makes it, of `first` or of random bytes."""
    if not path.exists():
        _write_once(path, first or secrets.token_urlsafe(length))
    return path.read_text().strip()


def _write_once(path: Path, value: str) -> None:
    # Linking fails if the name is taken: of two processes starting at once, one wins completely.
    handle, draft = tempfile.mkstemp(dir=path.parent)
    with os.fdopen(handle, "w") as file:
        file.write(value + "\n")
    try:
        os.link(draft, path)
    except FileExistsError:
        pass
    finally:
        os.unlink(draft)


def networks(name: str, default: list[str]) -> list[IPv4Network | IPv6Network]:
    known = []
    for word in words(name) or default:
        try:
            known.append(ip_network(word))
        except ValueError as problem:
            raise EnvironmentRefused(
                f"{name} names {word!r}: write addresses or networks, as in 10.0.0.0/8."
            ) from problem
    return known


def database(
    name: str,
    default: str,
    *,
    root: Path,
    wait_s: int | None = None,
    statement_s: int | None = None,
) -> dict[str, object]:
    """Django's settings for the database that a URL names, how long it waits for a lock or a silent
    server, and on PostgreSQL how long a statement may take."""
    url = text(name, default)
    scheme = url.partition(":")[0]
    if scheme == "sqlite":
        return _sqlite(name, url, root, wait_s or SQLITE_WAIT_S)
    if scheme in {"postgres", "postgresql"}:
        limits = {"lock_timeout": wait_s, "statement_timeout": statement_s or STATEMENT_S}
        return _postgres(name, url, limits, silent_s=wait_s or SILENT_S)
    raise EnvironmentRefused(
        f"{name} starts with {scheme!r}: it takes sqlite:///path/to/file "
        "or postgres://user:password@host:port/name."
    )


def _sqlite(name: str, url: str, root: Path, wait_s: int) -> dict[str, object]:
    path = unquote(url.removeprefix("sqlite:///"))
    if not url.startswith("sqlite:///") or path in {"", ":memory:"}:
        raise EnvironmentRefused(
            f"{name} names no file: write sqlite:///path/to/file "
            "(web server and worker share it, so it can't be in memory)."
        )
    return {
        "ENGINE": "config.sqlite",
        "NAME": str(root / path),
        "OPTIONS": {
            "transaction_mode": "IMMEDIATE",
            "timeout": wait_s,
            # FULL: what was acknowledged to a person survives a power cut.
            # secure_delete: what was erased leaves the file too.
            # recursive_triggers: without it INSERT OR REPLACE passes the delete triggers.
            "init_command": (
                f"PRAGMA busy_timeout={1000 * wait_s}; PRAGMA journal_mode=WAL; "
                "PRAGMA synchronous=FULL; PRAGMA recursive_triggers=ON; PRAGMA secure_delete=ON;"
            ),
        },
    }


def _postgres(
    name: str, url: str, limits: dict[str, int | None], *, silent_s: int
) -> dict[str, object]:
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as problem:
        raise EnvironmentRefused(f"{name} has no valid host and port: {POSTGRES}.") from problem
    database_name = unquote(parts.path.removeprefix("/"))
    if not database_name:
        raise EnvironmentRefused(f"{name} names no database: {POSTGRES}.")
    # Where packets vanish, nothing else ends the wait for a connection or for an answer.
    options: dict[str, object] = {
        "connect_timeout": silent_s,
        "tcp_user_timeout": 1000 * silent_s,
        "keepalives_idle": silent_s,
        "keepalives_interval": 1,
    }
    # What follows the question mark is libpq's: sslmode, or a socket's folder as host.
    options |= parse_qsl(parts.query)
    # A statement that comes often is planned once; the driver counts only what the server binds.
    options |= {"server_side_binding": True, "prepare_threshold": 5}
    set_here = [f"-c {limit}={limit_s}s" for limit, limit_s in limits.items() if limit_s]
    options.setdefault("options", " ".join(set_here))
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": database_name,
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": options.pop("host", parts.hostname or ""),
        "PORT": options.pop("port", str(port or "")),
        "OPTIONS": options,
    }
