import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from config import env

ROOT = Path("/srv/baseliner")


def database(monkeypatch: pytest.MonkeyPatch, url: str) -> dict[str, object]:
    monkeypatch.setenv("DATABASE_URL", url)
    return env.database("DATABASE_URL", "sqlite:///default.sqlite3", root=ROOT)


def refusal_of_database(monkeypatch: pytest.MonkeyPatch, url: str) -> str:
    with pytest.raises(env.EnvironmentRefused) as refused:
        database(monkeypatch, url)
    return str(refused.value)


def test_reads_a_text_or_its_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLACE", " https://study.example ")
    assert env.text("PLACE", "http://127.0.0.1") == "https://study.example"
    monkeypatch.setenv("PLACE", " ")
    assert env.text("PLACE", "http://127.0.0.1") == "http://127.0.0.1"


@pytest.mark.parametrize(
    ("value", "expected"),
    [("1", True), ("true", True), ("ON", True), ("0", False), ("False", False), ("no", False)],
)
def test_reads_a_boolean(monkeypatch: pytest.MonkeyPatch, value: str, expected: bool) -> None:
    monkeypatch.setenv("DEBUG", value)
    assert env.boolean("DEBUG", default=not expected) is expected


def test_reads_a_number_or_its_default(monkeypatch: pytest.MonkeyPatch) -> None:
    assert env.number("RUNS_A_DAY", 5) == 5
    monkeypatch.setenv("RUNS_A_DAY", " 12 ")
    assert env.number("RUNS_A_DAY", 5) == 12


@pytest.mark.parametrize("value", ["0", "-1", "many", "1.5"])
def test_refuses_what_is_no_number(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("RUNS_A_DAY", value)
    with pytest.raises(env.EnvironmentRefused, match=r"RUNS_A_DAY .* a whole number from 1"):
        env.number("RUNS_A_DAY", 5)


def test_reads_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WAIT_S", "3")
    assert env.seconds("WAIT_S") == 3
    monkeypatch.delenv("WAIT_S")
    assert env.seconds("WAIT_S") is None
    monkeypatch.setenv("WAIT_S", "soon")
    with pytest.raises(env.EnvironmentRefused, match="'soon': set it to a number of seconds"):
        env.seconds("WAIT_S")


def test_waits_for_a_lock_as_long_as_it_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    for url in ("sqlite:///x.sqlite3", "postgres://host/x"):
        monkeypatch.setenv("DATABASE_URL", url)
        found = str(env.database("DATABASE_URL", "", root=ROOT, wait_s=3)["OPTIONS"])
        assert "busy_timeout=3000" in found or "lock_timeout=3s" in found


def test_waits_for_a_silent_server_as_long_as_it_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    for url, connect, answer in (
        ("", 3, 3000),
        ("?connect_timeout=8&tcp_user_timeout=1", "8", "1"),
    ):
        monkeypatch.setenv("DATABASE_URL", f"postgres://host/x{url}")
        found: Any = env.database("DATABASE_URL", "", root=ROOT, wait_s=3)["OPTIONS"]
        assert (found["connect_timeout"], found["tcp_user_timeout"]) == (connect, answer)
        assert (found["keepalives_idle"], found["keepalives_interval"]) == (3, 1)


def test_lets_a_statement_on_postgresql_take_as_long_as_it_is_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgres://host/x")
    for statement_s, limit in ((30, "-c statement_timeout=30s"), (None, "statement_timeout=3600s")):
        found = env.database("DATABASE_URL", "", root=ROOT, wait_s=3, statement_s=statement_s)
        assert limit in str(found["OPTIONS"])


def test_reads_an_empty_boolean_as_its_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DEBUG", "")
    assert env.boolean("DEBUG", default=True) is True


def test_refuses_a_boolean_that_could_mean_either(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DEBUG", "2")
    with pytest.raises(env.EnvironmentRefused, match="DEBUG is '2': set it to 1 or 0"):
        env.boolean("DEBUG", default=False)


@pytest.mark.parametrize(("value", "expected"), [("", 7), ("0", 0), ("12", 12)])
def test_reads_a_number_from_zero(
    monkeypatch: pytest.MonkeyPatch, value: str, expected: int
) -> None:
    monkeypatch.setenv("SOME", value)
    assert env.number("SOME", 7, least=0) == expected


@pytest.mark.parametrize("value", ["-1", "1.5", "many", "٣", "9999999999"])
def test_refuses_what_is_no_number_from_zero(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("SOME", value)
    with pytest.raises(env.EnvironmentRefused, match="whole number"):
        env.number("SOME", 7, least=0)


def test_reads_words_between_commas(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALLOWED_HOSTS", "a.example, b.example,,")
    assert env.words("ALLOWED_HOSTS") == ["a.example", "b.example"]
    monkeypatch.delenv("ALLOWED_HOSTS")
    assert env.words("ALLOWED_HOSTS") == []


def test_refuses_a_missing_required_value_with_its_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_KEY", "  ")
    with pytest.raises(env.EnvironmentRefused, match="SECRET_KEY is not set: it signs"):
        env.required("SECRET_KEY", "it signs")


def test_makes_a_missing_folder_for_its_owner_alone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("DATA_DIR", str(tmp_path / "data"))
    path = env.folder("DATA_DIR", tmp_path / "elsewhere")
    assert path == tmp_path / "data"
    assert stat.S_IMODE(path.stat().st_mode) == 0o700


def test_refuses_a_folder_that_is_a_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("DATA_DIR", str(tmp_path / "file"))
    with pytest.raises(env.EnvironmentRefused, match="set DATA_DIR to another one"):
        env.folder("DATA_DIR", tmp_path)


def test_keeps_a_secret_for_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "secret"
    secret = env.ensure_secret(path)
    assert len(secret) == 64
    assert env.ensure_secret(path) == secret
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_makes_another_secret_for_another_file(tmp_path: Path) -> None:
    assert env.ensure_secret(tmp_path / "a") != env.ensure_secret(tmp_path / "b")


def test_gives_one_secret_to_all_who_ask_at_once(tmp_path: Path) -> None:
    with ThreadPoolExecutor(16) as pool:
        secrets = list(pool.map(lambda _: env.ensure_secret(tmp_path / "secret"), range(64)))
    assert len(set(secrets)) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["secret"]


def test_keeps_the_winner_of_two_that_found_no_secret(tmp_path: Path) -> None:
    env._write_once(tmp_path / "secret", "first")
    env._write_once(tmp_path / "secret", "second")
    assert env.ensure_secret(tmp_path / "secret") == "first"


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("sqlite:///study.sqlite3", "/srv/baseliner/study.sqlite3"),
        ("sqlite:////data/my%20study.sqlite3", "/data/my study.sqlite3"),
        ("", "/srv/baseliner/default.sqlite3"),
    ],
)
def test_reads_a_file_of_sqlite(monkeypatch: pytest.MonkeyPatch, url: str, path: str) -> None:
    read = database(monkeypatch, url)
    assert (read["ENGINE"], read["NAME"]) == ("config.sqlite", path)


PREPARED = {
    "server_side_binding": True,
    "prepare_threshold": 5,
    "options": "-c statement_timeout=3600s",
    "connect_timeout": 10,
    "tcp_user_timeout": 10_000,
    "keepalives_idle": 10,
    "keepalives_interval": 1,
}


def test_reads_a_server_of_postgresql(monkeypatch: pytest.MonkeyPatch) -> None:
    url = "postgres://anna:p%40ss%2Fword@db.example:6543/stu%20dy?sslmode=require"
    assert database(monkeypatch, url) == {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": "stu dy",
        "USER": "anna",
        "PASSWORD": "p@ss/word",
        "HOST": "db.example",
        "PORT": "6543",
        "OPTIONS": {"sslmode": "require", **PREPARED},
    }


def test_reads_a_socket_of_postgresql(monkeypatch: pytest.MonkeyPatch) -> None:
    read = database(monkeypatch, "postgresql://postgres:@/postgres?host=/run/PG")
    assert (read["HOST"], read["PORT"], read["OPTIONS"]) == ("/run/PG", "", PREPARED)


@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        ("mysql://root@localhost/study", "DATABASE_URL starts with 'mysql': it takes sqlite:///"),
        ("study.sqlite3", "DATABASE_URL starts with 'study.sqlite3': it takes sqlite:///"),
        ("sqlite://", "DATABASE_URL names no file"),
        ("sqlite:///", "DATABASE_URL names no file"),
        ("sqlite:///:memory:", "can't be in memory"),
        ("postgres://anna@db.example", "DATABASE_URL names no database"),
        ("postgres://anna@db.example:99999/study", "DATABASE_URL has no valid host and port"),
        ("postgres://anna@db.example:port/study", "DATABASE_URL has no valid host and port"),
        ("postgres://[db.example/study", "DATABASE_URL has no valid host and port"),
    ],
)
def test_refuses_a_database_that_it_can_not_use(
    monkeypatch: pytest.MonkeyPatch, url: str, sentence: str
) -> None:
    assert sentence in refusal_of_database(monkeypatch, url)


def test_keeps_a_password_out_of_its_refusals(monkeypatch: pytest.MonkeyPatch) -> None:
    for url in ("mysql://a:hush@h/d", "postgres://a:hush@h", "postgres://a:hush@h:port/d"):
        assert "hush" not in refusal_of_database(monkeypatch, url)


def test_reads_names_with_prices_behind_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MODELS", "openai/a=0.15/0.60, toy@http://127.0.0.1:1/v1, b=0/0")
    assert env.prices("MODELS") == {
        "openai/a": (0.15, 0.6),
        "toy@http://127.0.0.1:1/v1": None,
        "b": (0, 0),
    }


@pytest.mark.parametrize("price", ["1", "a/b", "1/2/3", "", "-1/2", "nan/1", "inf/1"])
def test_refuses_what_is_no_pair_of_prices(monkeypatch: pytest.MonkeyPatch, price: str) -> None:
    monkeypatch.setenv("MODELS", f"openai/a={price}")
    with pytest.raises(env.EnvironmentRefused, match="write the prices of a million tokens"):
        env.prices("MODELS")
