"""Backup, restore and copy, between databases made for it."""

import json
import sqlite3
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from unittest import mock
from zipfile import ZIP_DEFLATED, ZipFile

import psycopg
import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from pytest_django import Settings

from annotation.models import Batch, Benchmark, IdentityKey, Job, JobFile, Judgement
from annotation.models.errors import BadInput
from config.backups import archive, restoring
from config.backups.archive import Backup, HeldTable, Table, write_backup
from config.migrations import LAST_OF_FORMER_CHAIN
from tests import make
from tests.config.databases import NewDatabase, at_work_on, execute

pytestmark = pytest.mark.django_db(transaction=True)

KEY = "the key of this installation"
OLDER = Path(__file__).with_name("backup_of_the_former_chain.zip")
OLDER_KEY = "the-key-of-an-older-installation"


@pytest.fixture(autouse=True)
def key(settings: Settings, transactional_db: None) -> None:
    IdentityKey.objects.all().delete()
    settings.IDENTITY_KEY = KEY


@pytest.fixture
def data(tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of an installation, for this process and those that it starts."""
    settings.DATA_DIR, settings.IS_LOCAL = tmp_path, True
    monkeypatch.setenv("DATA_DIR", str(tmp_path))
    return tmp_path


def said(command: str, *arguments: str, **options: object) -> str:
    out = StringIO()
    call_command(command, *arguments, stdout=out, **options)
    return out.getvalue()


def refusal(file: Path, url: str) -> str:
    """Of restoring into this new SQLite database."""
    into = connection.copy()
    into.settings_dict["NAME"] = url.removeprefix("sqlite:///")
    with (
        mock.patch.object(restoring, "connection", into),
        Backup(file) as backup,
        pytest.raises(BadInput) as refused,
    ):
        restoring.restore_backup(backup)
    into.close()
    return str(refused.value)


def _refuse(*arguments: object) -> None:
    raise BadInput("On the way.")


def held_by(file: Path) -> list[HeldTable]:
    with Backup(file) as backup:
        return backup.manifest.tables


def fill() -> Batch:
    """Of every kind of value that the tables know, with texts that a format might trip over."""
    batch = make.running_batch(tests=2)
    make.worked_through(batch, wrong=1)
    make.at_work(batch)
    make.researcher()
    Job.objects.create(kind="export", result={"b": 1.5, "a": [None, "\u202e\u2028\n\"'\\ é 🙂"]})
    JobFile.objects.create(job=Job.objects.get(), name="x", data=bytes(range(256)))
    return batch


def run(url: str, statement: str) -> str:
    """The refusal of a statement by the database itself."""
    try:
        execute(url, [statement])
    except (sqlite3.Error, psycopg.Error) as refusal:
        return str(refusal)
    return ""


def holds_nothing(url: str) -> bool:
    """A statement that would find any table of ours does not."""
    return "annotation_judgement" in run(url, "SELECT id FROM annotation_judgement")


@pytest.mark.both_databases
def test_copies_everything_to_the_other_database_and_back(
    new_database: NewDatabase, data: Path, tmp_path: Path
) -> None:
    fill()
    before, after = tmp_path / "before.zip", tmp_path / "after.zip"
    there, back = f"sqlite:///{tmp_path}/elsewhere", new_database()
    write_backup(before)
    assert "rows copied and compared" in said("copy_database", there)
    with at_work_on(there):
        assert "rows copied and compared" in said("copy_database", back)
    with at_work_on(back):
        said("backup", str(after))
        # What `make run` does with the data that it finds: a new row takes a key that none has.
        said("ensure_admin")
        assert "no issues" in said("check", databases=["default"])
    assert held_by(after) == held_by(before)
    assert sum(held.rows for held in held_by(before) if held.table == "annotation.judgement") == 5
    # As final as before.
    for url in (there, back):
        assert "final" in run(url, "DELETE FROM annotation_judgement")
        assert "started study" in run(url, "DELETE FROM annotation_gold")


@pytest.mark.both_databases
def test_holds_one_moment_and_keeps_nobody_from_writing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    batch = fill()
    working = make.at_work(batch)
    answers = Judgement.objects.count()
    write = archive._write

    def write_while_people_work(file: ZipFile, table: Table, using: str) -> HeldTable:
        if table is Batch:
            make.answer(working)
            Benchmark.objects.create(name="begun meanwhile")
        return write(file, table, using)

    monkeypatch.setattr(archive, "_write", write_while_people_work)
    write_backup(tmp_path / "backup.zip")
    assert Judgement.objects.count() == answers + 1
    rows = {held.table: held.rows for held in held_by(tmp_path / "backup.zip")}
    assert rows["annotation.judgement"] == answers
    assert rows["annotation.benchmark"] == 1


@pytest.mark.both_databases
def test_restores_what_an_older_version_backed_up(
    new_database: NewDatabase, data: Path, settings: Settings, tmp_path: Path
) -> None:
    settings.IDENTITY_KEY = ""
    again = tmp_path / "again.zip"
    with at_work_on(new_database()):
        assert "rows of 20" in said("restore", str(OLDER))
        assert (data / "identity-key").read_text().strip() == OLDER_KEY
        said("backup", str(again))
        judgements = said("export_judgements", study="study-2")
    before = {held.table: held for held in held_by(OLDER)}
    after = {held.table: held for held in held_by(again)}
    for table in ("annotation.judgement", "annotation.assignment", "annotation.gold"):
        assert after[table].rows == before[table].rows > 0
    assert len(judgements.splitlines()) == before["annotation.judgement"].rows


def test_is_readable_for_its_owner_alone(tmp_path: Path) -> None:
    write_backup(tmp_path / "backup.zip")
    assert (tmp_path / "backup.zip").stat().st_mode & 0o077 == 0


class TestRefusals:
    def test_of_a_file_that_is_there(self, tmp_path: Path) -> None:
        (tmp_path / "mine").write_text("precious")
        with pytest.raises(BadInput, match="is there already"):
            write_backup(tmp_path / "mine")
        assert (tmp_path / "mine").read_text() == "precious"

    def test_of_a_folder_that_is_not_there(self, tmp_path: Path) -> None:
        with pytest.raises(BadInput, match="can't be written: No such file"):
            write_backup(tmp_path / "no" / "backup.zip")

    @pytest.mark.parametrize("content", [b"", b"PK", b"a text"])
    def test_of_what_is_no_backup(self, tmp_path: Path, content: bytes) -> None:
        (tmp_path / "other.zip").write_bytes(content)
        with pytest.raises(BadInput, match="is no backup"):
            Backup(tmp_path / "other.zip")

    def test_of_a_backup_that_was_changed(self, tmp_path: Path) -> None:
        fill()
        whole, changed = tmp_path / "whole.zip", tmp_path / "changed.zip"
        write_backup(whole)
        rewrite(whole, changed, "tables/annotation.judgement.jsonl", lambda text: text[:-20])
        with pytest.raises(BadInput, match=r"damaged: tables/annotation\.judgement\.jsonl"):
            Backup(changed)

    def test_of_a_backup_with_a_flipped_bit(self, tmp_path: Path) -> None:
        fill()
        file = tmp_path / "backup.zip"
        write_backup(file)
        with ZipFile(file) as archive:
            info = archive.getinfo("tables/annotation.example.jsonl")
        content = bytearray(file.read_bytes())
        content[info.header_offset + 30 + len(info.filename) + info.compress_size // 2] ^= 1
        file.write_bytes(content)
        with pytest.raises(BadInput, match=r"damaged: tables/annotation\.example\.jsonl"):
            Backup(file)

    def test_of_a_newer_version(self, tmp_path: Path, new_database: NewDatabase) -> None:
        write_backup(tmp_path / "backup.zip")
        newer = tmp_path / "newer.zip"

        def with_a_migration_more(text: bytes) -> bytes:
            held = json.loads(text)
            held["migrations"].append(["annotation", "9999_of_tomorrow"])
            return json.dumps(held).encode()

        rewrite(tmp_path / "backup.zip", newer, "backup.json", with_a_migration_more)
        url = new_database()
        assert "newer version" in refusal(newer, url)
        assert holds_nothing(url)

    def test_of_a_version_before_the_end_of_the_former_chain(
        self, tmp_path: Path, new_database: NewDatabase
    ) -> None:
        earlier = tmp_path / "earlier.zip"

        def without_the_last_migration(text: bytes) -> bytes:
            held = json.loads(text)
            held["migrations"].remove(["annotation", "0033_expected_seconds"])
            return json.dumps(held).encode()

        rewrite(OLDER, earlier, "backup.json", without_the_last_migration)
        url = new_database()
        assert LAST_OF_FORMER_CHAIN in refusal(earlier, url)
        assert holds_nothing(url)

    @pytest.mark.both_databases
    def test_of_a_database_that_holds_something(self, tmp_path: Path) -> None:
        """As this one does."""
        write_backup(tmp_path / "backup.zip")
        with pytest.raises(CommandError) as refused:
            call_command("restore", str(tmp_path / "backup.zip"))
        assert str(refused.value).startswith("The database holds something already")
        assert "\n" not in str(refused.value)

    def test_of_another_identity_key(
        self,
        tmp_path: Path,
        new_database: NewDatabase,
        settings: Settings,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        write_backup(tmp_path / "backup.zip")
        url, file = new_database(), tmp_path / "backup.zip"
        settings.DATA_DIR = tmp_path
        monkeypatch.setenv("IDENTITY_KEY", "another")
        settings.IDENTITY_KEY = "another"
        assert f"`unzip -p {file} identity-key`" in refusal(file, url)
        monkeypatch.delenv("IDENTITY_KEY")
        settings.IDENTITY_KEY, settings.SECRET_KEY, settings.IS_LOCAL = "", "another", False
        assert f"`unzip -p {file} identity-key`" in refusal(file, url)
        # With its own key nothing is in the way.
        settings.IDENTITY_KEY = KEY
        monkeypatch.setattr(MigrationExecutor, "migrate", _refuse)
        assert refusal(file, url) == "On the way."

    def test_of_the_key_that_another_database_needs(
        self, tmp_path: Path, new_database: NewDatabase, settings: Settings
    ) -> None:
        write_backup(tmp_path / "backup.zip")
        data = tmp_path / "data"
        data.mkdir()
        (data / "identity-key").write_text("the key of the study that runs here\n")
        (data / "baseliner.sqlite3").touch()
        settings.DATA_DIR, settings.IS_LOCAL = data, True
        settings.IDENTITY_KEY = "the key of the study that runs here"
        assert "set IDENTITY_KEY" in refusal(tmp_path / "backup.zip", new_database())
        assert (data / "identity-key").read_text() == "the key of the study that runs here\n"


def rewrite(source: Path, target: Path, name: str, change: Callable[[bytes], bytes]) -> None:
    """The same zip, with one file changed."""
    with ZipFile(source) as old, ZipFile(target, "w", ZIP_DEFLATED) as new:
        for info in old.infolist():
            content = old.read(info)
            new.writestr(info, change(content) if info.filename == name else content)
