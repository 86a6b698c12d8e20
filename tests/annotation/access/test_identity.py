"""A renewed secret makes a stranger of nobody."""

import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings as product
from django.core.management import CommandError, call_command
from django.core.management.base import SystemCheckError
from django.test import Client
from django.utils.crypto import salted_hmac
from pytest_django import Settings

from annotation.access.identity import identity_hash, remember_key
from annotation.models import Annotator, IdentityKey
from annotation.models.errors import NoEntry
from annotation.studies.people import erase_annotator
from annotation.work.joining import person
from tests import make
from tests.config.environment import untouched
from tests.migrated_once import begin_with_copy

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _of_an_installation_without_a_key(settings: Settings) -> None:
    settings.IDENTITY_KEY = ""
    IdentityKey.objects.all().delete()


def stored_person(external_id: str) -> Annotator:
    somebody = person(make.channel(), external_id)
    somebody.save()
    return somebody


def test_hashes_as_before_with_the_secret_of_before(settings: Settings) -> None:
    channel = make.channel()
    before = salted_hmac("annotation.identity", f"{channel.slug}\n5f1e").hexdigest()
    assert identity_hash(channel, "5f1e") == before
    settings.IDENTITY_KEY = settings.SECRET_KEY
    settings.SECRET_KEY = "renewed"
    assert identity_hash(channel, "5f1e") == before


def test_finds_a_person_again_after_the_secret_was_renewed(settings: Settings) -> None:
    known = stored_person("5f1e")
    settings.IDENTITY_KEY = settings.SECRET_KEY
    settings.SECRET_KEY = "renewed"
    assert person(make.channel(), "5f1e") == known


def test_makes_a_stranger_of_nobody_with_another_key(settings: Settings) -> None:
    stored_person("5f1e")
    settings.SECRET_KEY = "renewed"
    with pytest.raises(NoEntry, match="cannot tell"):
        person(make.channel(), "5f1e")
    assert Annotator.objects.count() == 1


@pytest.mark.both_databases
def test_tells_another_key_by_the_people_where_none_was_kept(settings: Settings) -> None:
    stored_person("5f1e")
    IdentityKey.objects.all().delete()
    settings.IDENTITY_KEY = "made up at the upgrade"
    assert not remember_key()
    assert not IdentityKey.objects.exists()


@pytest.mark.both_databases
def test_refuses_to_migrate_with_another_key(settings: Settings) -> None:
    stored_person("5f1e")
    settings.SECRET_KEY = "renewed"
    with pytest.raises(SystemCheckError, match="set IDENTITY_KEY to the former key"):
        call_command("check", databases=["default"])


@pytest.mark.both_databases
def test_is_kept_by_the_migration() -> None:
    call_command("migrate", verbosity=0)
    assert IdentityKey.objects.count() == 1


def test_is_told_to_nobody_by_healthz(client: Client, settings: Settings) -> None:
    remember_key()
    settings.SECRET_KEY = "renewed"
    assert client.get("/healthz").status_code == 200


def _run(data: Path, *command: str, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = untouched(DATA_DIR=str(data), DJANGO_SETTINGS_MODULE="config.settings")
    return subprocess.run(
        [sys.executable, *command],
        cwd=product.BASE_DIR,
        env=environment | variables,
        capture_output=True,
        text=True,
        check=False,
    )


def test_stops_the_start_of_the_web_server(tmp_path: Path) -> None:
    begin_with_copy(tmp_path / "baseliner.sqlite3")
    production = {"DEBUG": "0", "SECRET_KEY": "s" * 60}
    assert _run(tmp_path, "manage.py", "migrate", **production).returncode == 0
    assert _run(tmp_path, "-c", "import config.wsgi", **production).returncode == 0
    production["SECRET_KEY"] = "renewed" * 9
    refused = _run(tmp_path, "-c", "import config.wsgi", **production)
    assert refused.returncode == 1
    assert "set IDENTITY_KEY to the former key" in refused.stderr
    production["IDENTITY_KEY"] = "s" * 60
    assert _run(tmp_path, "-c", "import config.wsgi", **production).returncode == 0


# The key is lost


@pytest.mark.both_databases
def test_finds_everybody_again_with_another_key_once_it_was_replaced(settings: Settings) -> None:
    known, other = stored_person("5f1e"), stored_person("77aa")
    settings.SECRET_KEY = "another"
    call_command("replace_identity_key")
    assert person(make.channel(), "5f1e") == known
    assert person(make.channel(), "77aa") == other
    assert person(make.channel(), "new").pk is None


@pytest.mark.both_databases
def test_keeps_the_exposure_of_whoever_it_found_again(settings: Settings) -> None:
    """Rule 6 holds on: the same row of the annotator keeps its assignments."""
    batch = make.running_batch()
    assignment = make.joined(batch)
    settings.SECRET_KEY = "another"
    call_command("replace_identity_key")
    again = person(assignment.annotator.channel, assignment.annotator.external_id)
    assert again.assignments.get() == assignment


@pytest.mark.both_databases
def test_gives_up_erased_people_only_when_told(settings: Settings) -> None:
    erase_annotator(stored_person("5f1e"), at=make.NOON)
    stored_person("77aa")
    settings.SECRET_KEY = "another"
    with pytest.raises(CommandError, match=r"1 of the annotators were erased.*--with-erased"):
        call_command("replace_identity_key")
    with pytest.raises(NoEntry, match="cannot tell"):
        person(make.channel(), "77aa")
    call_command("replace_identity_key", "--with-erased")
    assert person(make.channel(), "77aa").pk
    assert person(make.channel(), "5f1e").pk is None, "as the refusal said"


@pytest.mark.both_databases
def test_replaces_no_key_that_is_not_lost() -> None:
    known = stored_person("5f1e")
    with pytest.raises(CommandError, match="nothing to replace"):
        call_command("replace_identity_key")
    assert person(make.channel(), "5f1e") == known
