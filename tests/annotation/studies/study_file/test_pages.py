"""A study's file is downloaded from its settings, and makes a draft where studies are made."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from annotation.models import Study
from annotation.studies.study_file.writing import study_as_toml
from tests import make

pytestmark = pytest.mark.django_db

FROM_FILE = "admin:annotation_study_from_file"


@pytest.fixture
def study() -> Study:
    task = make.task(make.benchmark("mood"), slug="mood")
    return make.batch(make.study(task.benchmark, slug="my-study"), task).study


def sent(client: Client, text: str) -> HttpResponse:
    file = SimpleUploadedFile("mine.toml", text.encode())
    return client.post(reverse(FROM_FILE), {"file": file})  # type: ignore[return-value]


def test_hands_a_study_out_as_a_file(client: Client, study: Study) -> None:
    client.force_login(make.member(study, "editor"))
    address = reverse("annotation:study_file", args=["my-study"])
    response = client.get(address)
    assert response.content.decode() == study_as_toml(study)
    assert 'filename="my-study.toml"' in response["Content-Disposition"]
    settings = client.get(reverse("annotation:settings", args=[study.slug]))
    assert f'href="{address}"' in settings.content.decode()


def test_makes_a_draft_of_a_file(client: Client, study: Study) -> None:
    anna = make.member(study.benchmark)
    client.force_login(anna)
    for page in (reverse("annotation:home"), reverse("annotation:new_study")):
        assert f'href="{reverse(FROM_FILE)}"' in client.get(page).content.decode()
    response = sent(client, study_as_toml(study).replace("my-study", "other"))
    other = Study.objects.get(slug="other")
    assert response["Location"] == reverse("annotation:settings", args=[other.slug])
    assert (other.state, other.memberships.get().user) == ("draft", anna)


def test_changes_no_study_that_is_there(client: Client, study: Study) -> None:
    client.force_login(make.member(study, "editor"))
    text = study_as_toml(study).replace(study.title, "Another")
    page = sent(client, text).content.decode()
    assert "mine.toml, line 2, study.name: There is a study “my-study” already" in page
    study.refresh_from_db()
    assert study.title != "Another"


def test_says_what_is_wrong_with_a_file(client: Client, study: Study) -> None:
    client.force_login(make.researcher())
    page = sent(client, study_as_toml(study).replace("my-study", "other")).content.decode()
    assert "mine.toml, line 4, study.benchmark: There is no benchmark “mood” that you may" in page
    assert "mine.toml is no TOML" in sent(client, "a =").content.decode()
    text = '[study]\nname = "x"\ntitle = "x"\nbenchmark = "mood"\nconsent_file = "/etc/hostname"\n'
    client.force_login(make.member(study.benchmark))
    assert "line 5, study.consent_file: No second file" in sent(client, text).content.decode()
    assert Study.objects.count() == 1
