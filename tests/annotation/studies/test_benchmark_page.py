"""The page of a benchmark: a card for each task, and its description beside the preview."""

from copy import deepcopy
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from annotation.models import Kind, Task
from annotation.models.access import record_settings
from annotation.studies.settings_form import digest
from tests import make
from tests.made_once import once_a_module

pytestmark = pytest.mark.django_db

WARNING = {
    "code": "floor",
    "severity": "warning",
    "message": "One answer is enough.",
    "figures": {},
}
NOTE = {"code": "nest", "severity": "note", "message": "Shot sets do not nest.", "figures": {}}


def made() -> Task:
    return make.task(tests=2, slug="reviews", description="Say **good** or bad.", audit=[NOTE])


task_once = once_a_module(made)


@pytest.fixture
def task(task_once: Task) -> Task:
    return deepcopy(task_once)


@pytest.fixture
def editor(client: Client, task: Task) -> Client:
    client.force_login(make.member(task.benchmark, "editor"))
    return client


def address(task: Task) -> str:
    return reverse("annotation:benchmark", args=[task.benchmark.name])


def form_of(of: Task, **fields: Any) -> dict[str, Any]:
    shown = {"task": of.pk, "description": of.description, "shown": digest(of.description)}
    return {**shown, **fields}


def test_shows_an_item_the_audit_and_where_to_go_on(editor: Client, task: Task) -> None:
    response = editor.get(address(task))
    page = response.content.decode()
    assert "Anna met Boris in Test 0 today." in page
    assert 'name="option"' in page
    assert "Say <strong>good</strong> or bad." in page
    assert f"{reverse('annotation:new_study')}?benchmark={task.benchmark_id}" in page
    assert reverse("scoring:systems", args=[task.benchmark.name]) in page
    assert "audit: 1 note<" in page
    assert "audit: 1 warning<" not in page
    Task.objects.update(audit=[NOTE, WARNING])
    page = editor.get(address(task)).content.decode()
    assert "audit: 1 warning<" in page
    assert page.index(str(WARNING["message"])) < page.index(str(NOTE["message"]))
    Task.objects.update(audit=[])
    assert "audit:" not in editor.get(address(task)).content.decode()


@pytest.mark.parametrize("kind", Kind.values)
def test_shows_an_item_of_every_kind(client: Client, kind: str) -> None:
    task = make.task(kind=kind, tests=1)
    client.force_login(make.member(task.benchmark))
    page = client.get(address(task)).content.decode()
    assert "inert" in page
    assert "Test 0" in page


def test_gives_no_gold_away(editor: Client, task: Task) -> None:
    """An editor may see it, but not by a glance at how people see an item."""
    page = editor.get(address(task)).content.decode()
    assert "checked" not in page.partition("inert")[2].partition("</article>")[0]


def test_says_what_to_do_where_there_is_no_task(client: Client) -> None:
    benchmark = make.benchmark()
    client.force_login(make.member(benchmark, "editor"))
    page = client.get(reverse("annotation:benchmark", args=[benchmark.name])).content.decode()
    assert "No tasks yet." in page
    assert reverse("admin:annotation_benchmark_import") in page


def test_saves_a_description_and_logs_it(editor: Client, task: Task) -> None:
    assert (
        editor.post(address(task), form_of(task, description="New.\r\nWords.")).status_code == 302
    )
    task.refresh_from_db()
    assert task.description == "New.\nWords."
    change = task.benchmark.changes.get()
    assert change.after == {"reviews: description": "New.\nWords."}
    assert editor.post(address(task), form_of(task)).status_code == 302
    assert task.benchmark.changes.count() == 1


def test_previews_a_description_and_stores_nothing(editor: Client, task: Task) -> None:
    sent = form_of(task, description="*New* <script>")
    response = editor.post(address(task), sent, HTTP_HX_REQUEST="true")
    assert response.content.decode().strip() == "<p><em>New</em> &lt;script&gt;</p>"
    task.refresh_from_db()
    assert task.description == "Say **good** or bad."


def test_refuses_a_save_over_another_description(editor: Client, task: Task) -> None:
    ann = User.objects.create_user("ann")
    Task.objects.update(description="Hers.")
    record_settings(
        ann, task.benchmark, {"reviews: description": ""}, {"reviews: description": "H"}
    )
    response = editor.post(address(task), form_of(task, description="Mine."))
    page = response.content.decode()
    assert response.status_code == 409
    assert "Not saved: ann changed it at" in page
    assert "Hers." in page
    task.refresh_from_db()
    assert task.description == "Hers."
    (card,) = response.context["cards"]
    again = {name: card["form"][name].value() for name in ("description", "shown")}
    assert again["description"] == "Mine."
    assert editor.post(address(task), form_of(task, **again)).status_code == 302
    task.refresh_from_db()
    assert task.description == "Mine."


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({"task": "x"}, 404),
        ({"task": "9" * 40}, 404),
        ({"shown": ""}, 422),
        ({"description": "a\0b"}, 422),
    ],
)
def test_refuses_what_it_did_not_send(
    editor: Client, task: Task, fields: dict[str, Any], status: int
) -> None:
    assert editor.post(address(task), form_of(task, **fields)).status_code == status
    task.refresh_from_db()
    assert task.description == "Say **good** or bad."


def test_lets_an_editor_of_a_study_look_and_change_nothing(client: Client, task: Task) -> None:
    client.force_login(make.member(make.study(task.benchmark), "editor"))
    page = client.get(address(task)).content.decode()
    assert "Say <strong>good</strong> or bad." in page
    assert "Save the description" not in page
    assert client.post(address(task), form_of(task, description="Mine.")).status_code == 404
