"""A password that was forgotten: by mail where there is a server of it, else by a person."""

import re
from collections.abc import Iterator
from importlib import reload

import pytest
from django.contrib.auth.models import User
from django.core import mail
from django.test import Client, override_settings
from django.urls import clear_url_caches, reverse

from config import urls

pytestmark = pytest.mark.django_db
NEW = "a-long-new-passphrase"


@pytest.fixture
def with_mail() -> Iterator[None]:
    with override_settings(EMAIL_HOST="mail.example"):
        _read_addresses()
        yield
    _read_addresses()


def _read_addresses() -> None:
    reload(urls)
    clear_url_caches()


def test_says_who_sets_a_new_one(client: Client) -> None:
    page = client.get(reverse("admin:login")).content.decode()
    assert "Forgotten your password?" in page
    assert client.get("/admin/password/", follow=True).redirect_chain


@pytest.mark.usefixtures("with_mail")
def test_sends_a_link_by_which_a_new_one_is_set(client: Client) -> None:
    user = User.objects.create_user("ann", "ann@example.org", "the-old-one")
    address = reverse("admin_password_reset")
    page = client.get(reverse("admin:login")).content.decode()
    assert address in page
    assert "changepassword" not in page
    assert client.post(address, {"email": "ann@example.org"}).status_code == 302
    [sent] = mail.outbox
    link = re.search(r"/admin/password/\S+", str(sent.body))
    assert link
    form = client.get(link[0], follow=True)
    at = form.redirect_chain[-1][0]
    assert client.post(at, {"new_password1": NEW, "new_password2": NEW}).status_code == 302
    user.refresh_from_db()
    assert user.check_password(NEW)


@pytest.mark.usefixtures("with_mail")
def test_does_not_tell_whether_there_is_such_an_account(client: Client) -> None:
    response = client.post(reverse("admin_password_reset"), {"email": "nobody@example.org"})
    assert response.status_code == 302
    assert mail.outbox == []
