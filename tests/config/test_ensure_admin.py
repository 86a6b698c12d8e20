import stat
from io import StringIO
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client
from pytest_django import Settings

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, settings: Settings) -> Path:
    settings.DATA_DIR = tmp_path
    settings.PUBLIC_URL = "https://study.example"
    return tmp_path


def said() -> str:
    out = StringIO()
    call_command("ensure_admin", stdout=out)
    return out.getvalue()


def test_says_how_to_sign_in(client: Client) -> None:
    start, password = said().strip().rsplit("  password: ")
    assert start == "Admin: https://study.example/admin/  user: admin"
    answer = client.post("/admin/login/", {"username": "admin", "password": password})
    assert answer.status_code == 302
    assert client.get("/admin/").status_code == 200


def test_says_the_same_again_and_makes_no_other(folder: Path) -> None:
    assert said() == said()
    assert User.objects.count() == 1
    assert stat.S_IMODE((folder / "admin-password").stat().st_mode) == 0o600


def test_leaves_a_password_that_was_set_by_hand() -> None:
    generated = said().strip().rsplit(" ")[-1]
    admin = User.objects.get()
    admin.set_password("chosen by a person")
    admin.save(update_fields=["password"])
    assert "the one that was set by hand" in said()
    assert generated not in said()
    assert User.objects.get().check_password("chosen by a person")


def test_makes_no_password_for_an_admin_who_was_there(folder: Path) -> None:
    User.objects.create_superuser("admin", password="chosen by a person")
    assert "manage.py changepassword admin" in said()
    assert not (folder / "admin-password").exists()
