from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from annotation.models import Channel
from tests import make

pytestmark = pytest.mark.django_db

ADD = "admin:annotation_channel_add"


def address(channel: Channel, page: str = "change") -> str:
    return reverse(f"admin:annotation_channel_{page}", args=[channel.pk])


def form(**changes: Any) -> dict[str, Any]:
    data = {"name": "New platform", "slug": "new", "person_param": "who"}
    return data | {"completion_url": "https://example.org/done?code={code}"} | changes


def test_adds_a_platform_as_data(admin_client: Client) -> None:
    admin_client.post(reverse(ADD), form())
    assert Channel.objects.get(slug="new").person_param == "who"


def test_refuses_a_completion_link_without_a_place_for_the_code(admin_client: Client) -> None:
    page = admin_client.post(reverse(ADD), form(completion_url="https://example.org"))
    assert "Write {code} where" in page.content.decode()


@pytest.mark.parametrize(
    "id_form", ["[0-9a-f]{24}", r"A-\d{6}|B-\d{6}", r"\w+@[a-z.]+", "[A-Z]{3,5}"]
)
def test_takes_a_form_of_ids(admin_client: Client, id_form: str) -> None:
    admin_client.post(reverse(ADD), form(id_form=id_form))
    assert Channel.objects.get(slug="new").id_form == id_form


@pytest.mark.parametrize(
    "id_form", ["(", "[", "(a+)+", "a*a*a*b", r"(.)\1", "[z-a]", "a**", "a{2,}b{0,9}c+", "a" * 101]
)
def test_refuses_what_is_no_form_or_takes_for_ever(admin_client: Client, id_form: str) -> None:
    page = admin_client.post(reverse(ADD), form(id_form=id_form)).content.decode()
    assert "Write the form of the ids" in page or "at most 100 characters" in page
    assert not Channel.objects.filter(slug="new").exists()


def test_keeps_the_short_name_by_which_people_are_known(admin_client: Client) -> None:
    channel = make.channel("prolific")
    admin_client.post(address(channel), form(slug="other"))
    channel.refresh_from_db()
    assert (channel.slug, channel.name) == ("prolific", "New platform")


def test_never_shows_a_secret_and_keeps_it_when_the_field_is_empty(admin_client: Client) -> None:
    admin_client.post(reverse(ADD), form(signature_param="sig", signature_secret="s3cret"))
    channel = Channel.objects.get(slug="new")
    assert "s3cret" not in admin_client.get(address(channel)).content.decode()
    admin_client.post(address(channel), form(signature_param="sig", signature_secret=""))
    channel.refresh_from_db()
    assert channel.signature_secret == "s3cret"


def test_forgets_a_secret_with_its_parameter(admin_client: Client) -> None:
    admin_client.post(reverse(ADD), form(signature_param="sig", signature_secret="s3cret"))
    channel = Channel.objects.get(slug="new")
    admin_client.post(address(channel), form())
    channel.refresh_from_db()
    assert channel.signature_secret == ""


def test_refuses_a_signature_without_a_secret(admin_client: Client) -> None:
    page = admin_client.post(reverse(ADD), form(signature_param="sig"))
    assert "both its parameter and its secret" in page.content.decode()


def test_leaves_the_simulated_channel_alone(admin_client: Client) -> None:
    channel = make.channel("simulated")
    assert admin_client.post(address(channel), form()).status_code == 403
    assert admin_client.post(address(channel, "delete"), {"post": "yes"}).status_code == 403


def test_keeps_a_channel_that_a_study_uses(admin_client: Client) -> None:
    channel = make.running_batch(via="prolific").study.channel
    page = admin_client.post(address(channel, "delete"), {"post": "yes"})
    assert page.status_code == 200
    assert Channel.objects.filter(pk=channel.pk).exists()
