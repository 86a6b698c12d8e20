"""What a researcher learns of others' studies, and what each role finds in its own."""

import json
from copy import deepcopy
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from annotation.models import Annotator, Assignment, Benchmark, Channel, Membership, Study
from annotation.studies.people import invite
from annotation.work.finishing import expire_idle
from scoring.models import Run
from tests import make
from tests.made_once import once_a_module
from tests.scoring.comparison import measured

pytestmark = pytest.mark.django_db

ID, SUBMISSION = "PERSON-7F", "SUBMISSION-9Q"


@dataclass
class World:
    study: Study
    person: Annotator
    assignment: Assignment

    def client(self, role: str, *, benchmark: bool = True) -> Client:
        user = make.member(self.study, role)
        if benchmark:
            self.study.benchmark.memberships.create(user=user, role=role)
        return signed_in(user)


def made_world() -> World:
    batch = make.running_batch(via="prolific", title="The study of A", training=1, tests=2)
    person = make.annotator("prolific", ID)
    assignment = make.joined(batch, who=person, submission_id=SUBMISSION)
    expire_idle(at=make.NOON + timedelta(days=3))
    make.worked_through(batch)
    invite(batch.study, ["anna@example.org"])
    measured.run(batch.task, system="System of A")
    assignment.refresh_from_db()
    return World(batch.study, person, assignment)


world_once = once_a_module(made_world)


@pytest.fixture
def world(world_once: World) -> World:
    return deepcopy(world_once)


@pytest.fixture
def b() -> Client:
    """Researcher B, with a study and a benchmark of their own."""
    bench = make.benchmark("b-benchmark")
    user = make.member(make.study(bench, title="The study of B"))
    bench.memberships.create(user=user, role="owner")
    return signed_in(user)


def signed_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def admin(name: str, *arguments: int) -> str:
    return reverse(f"admin:{name}", args=arguments)


def text(client: Client, address: str, **query: Any) -> str:
    response: Any = client.get(address, query)
    assert response.status_code == 200, address
    content = b"".join(response.streaming_content) if response.streaming else response.content
    return content.decode()


def test_b_changes_nothing_of_as(world: World, b: Client) -> None:
    study, person, assignment = world.study, world.person, world.assignment
    for address in (
        admin("annotation_study_close", study.pk),
        admin("annotation_study_pause", study.pk),
        admin("annotation_assignment_exclude", assignment.pk),
        admin("annotation_annotator_erase", person.pk),
        admin("annotation_study_members", study.pk),
    ):
        data = {"reason": "because", "user": "b", "role": "owner"}
        assert b.post(address, data).status_code == 404, address
    for row in (study, person, assignment):
        row.refresh_from_db()
    assert study.state == "open"
    assert person.external_id == ID
    assert not hasattr(assignment, "exclusion")


LISTS = [
    "annotation_study",
    "annotation_batch",
    "annotation_benchmark",
    "annotation_task",
    "annotation_itemset",
    "annotation_example",
    "annotation_assignment",
    "annotation_annotator",
    "annotation_judgement",
    "annotation_job",
    "scoring_run",
    "scoring_reportedscore",
    "scoring_boarddecision",
    "scoring_leaderboard",
]


@pytest.mark.parametrize("name", LISTS)
@pytest.mark.parametrize("query", [{}, {"q": ID}, {"q": "test"}])
def test_b_sees_nothing_of_as_in_any_list(
    world: World, b: Client, name: str, query: dict[str, str]
) -> None:
    page = text(b, admin(f"{name}_changelist"), **query)
    task = world.study.batches.get().task
    for word in (
        world.study.title,
        f">{world.study.benchmark}<",
        task.slug,
        world.person.pseudonym,
        "System of A",
    ):
        assert word not in page


@pytest.mark.parametrize(
    "name",
    [
        "annotation:new_study",
        "admin:annotation_batch_add",
        "admin:scoring_boarddecision_add",
        "admin:scoring_leaderboard_add",
        "admin:scoring_reportedscore_add",
    ],
)
def test_b_chooses_among_their_own(world: World, b: Client, name: str) -> None:
    page = text(b, reverse(name))
    assert world.study.title not in page
    assert f">{world.study.benchmark}<" not in page


def test_b_finds_only_their_own_in_the_chooser(world: World, b: Client) -> None:
    found = text(
        b,
        admin("autocomplete"),
        app_label="annotation",
        model_name="batch",
        field_name="test_set",
    )
    assert json.loads(found)["results"] == []


def test_b_cannot_build_on_as_benchmark_by_number(world: World, b: Client) -> None:
    task = world.study.batches.get().task
    study = Study.objects.get(title="The study of B")
    form = {"study": study.pk, "task": task.pk, "test_set": task.item_sets.get(name="test").pk}
    page = b.post(admin("annotation_batch_add"), {**form, "wanted": 1})
    assert page.status_code == 200
    assert not study.batches.exists()
    page = b.post(
        reverse("scoring:draft_plan"),
        {"task": task.pk, "title": "x", "slug": "x", "channel": world.study.channel_id,
         "shots": 0, "batches": 1, "annotators": 1, "items": 1, "rate": 12},
    )  # fmt: skip
    assert page.status_code == 422


def test_b_cannot_import_into_as_benchmark(world: World, b: Client) -> None:
    page = b.post(admin("annotation_benchmark_import"), {"name": world.study.benchmark.name})
    assert "somebody else&#x27;s benchmark" in page.content.decode()


def test_home_and_planner_name_only_ones_own(world: World, b: Client) -> None:
    for address in ("/", reverse("scoring:plan")):
        page = text(b, address)
        assert world.study.title not in page
        assert world.study.slug not in page
    assert "The study of B" in text(b, "/")


@pytest.mark.parametrize(
    ("rows", "query"),
    [
        ("annotator", "external_id__startswith=P"),
        ("annotator", "identity_hash__startswith=a"),
        ("annotator", "channel__signature_secret=s"),
        ("assignment", "resume_token__startswith=a"),
        ("study", "join_token__startswith=a"),
        ("study", "prolific__webhook_secret__startswith=a"),
    ],
)
def test_cannot_be_asked_for_an_id_letter_by_letter(world: World, rows: str, query: str) -> None:
    address = admin(f"annotation_{rows}_changelist")
    response = world.client("editor").get(f"{address}?{query}")
    assert response.status_code in (302, 400)  # Django: not a filter of this list


# What each role finds in the pages of the study.


def pages_of(world: World) -> list[str]:
    study, assignment = world.study, world.assignment
    done = study.assignments.completed().get()
    return [
        admin("annotation_assignment_changelist"),
        admin("annotation_assignment_change", assignment.pk),
        admin("annotation_assignment_change", done.pk),
        admin("annotation_annotator_changelist"),
        admin("annotation_annotator_change", world.person.pk),
        admin("annotation_judgement_changelist"),
        reverse("annotation:settings", args=[study.slug]),
        reverse("annotation:log", args=[study.slug]),
        reverse("annotation:watch", args=[study.slug]),
        reverse("annotation:export_judgements", args=[study.slug, "jsonl"]),
        reverse("scoring:comparison", args=["study", study.slug]),
        reverse("scoring:items", args=["study", study.slug]),
        reverse("scoring:report", args=[study.slug]),
        reverse("scoring:report_export", args=[study.slug, "sheet", "text"]),
        reverse("scoring:preregistration", args=[study.slug, "markdown"]),
    ]


def test_owners_see_ids_and_pay(world: World) -> None:
    client = world.client("owner")
    page = text(client, admin("annotation_annotator_change", world.person.pk))
    assert ID in page
    assert ID in text(client, admin("annotation_annotator_changelist"), q=ID)
    assert SUBMISSION in text(client, admin("annotation_assignment_change", world.assignment.pk))
    amount = world.study.assignments.completed().get().amount
    assert str(amount) in text(client, admin("annotation_assignment_changelist"))
    assert "Cost so far" in text(client, reverse("annotation:watch", args=[world.study.slug]))
    assert "Pay" in text(client, reverse("scoring:report", args=[world.study.slug]))


def test_editors_see_people_by_pseudonym_without_ids_and_pay(world: World) -> None:
    client = world.client("editor")
    Assignment.objects.completed().update(amount="77.31")
    for address in pages_of(world):
        page = text(client, address)
        for word in (ID, SUBMISSION, "anna@example.org", "77.31"):
            assert word not in page, address
    assert world.person.pseudonym in text(client, admin("annotation_annotator_changelist"))
    assert ID not in text(client, admin("annotation_annotator_changelist"), q="P")
    found = text(client, admin("annotation_annotator_changelist"), q=ID)
    assert world.person.pseudonym not in found
    found = text(client, admin("annotation_assignment_changelist"), q=SUBMISSION)
    assert world.person.pseudonym not in found


def test_viewers_see_tables_without_people_gold_and_pay(world: World) -> None:
    client = world.client("viewer")
    Assignment.objects.completed().update(amount="77.31")
    slug = world.study.slug
    pseudonyms = list(Annotator.objects.values_list("pseudonym", flat=True))
    for address in (
        reverse("annotation:watch", args=[slug]),
        reverse("scoring:comparison", args=["study", slug]),
        *(
            reverse("scoring:comparison_export", args=["study", slug, form])
            for form in ("json", "csv", "latex", "latex-appendix", "markdown")
        ),
        f"/api/studies/{slug}/comparison/",
        f"/api/studies/{slug}/progress/",
    ):
        page = text(client, address)
        for word in (*pseudonyms, ID, "77.31", "Cost so far", "comparison/items/"):
            assert word not in page, (address, word)
    lists = ("study", "assignment", "annotator", "judgement", "example", "itemset", "batch")
    for name in lists:
        page = text(client, admin(f"annotation_{name}_changelist"))
        assert "0 " in page
        assert world.study.title not in page
        assert not any(pseudonym in page for pseudonym in pseudonyms)


def test_a_person_of_two_studies_is_erased_by_who_owns_both(world: World) -> None:
    elsewhere = make.running_batch(via="prolific")
    make.joined(elsewhere, who=world.person)
    owner = make.member(world.study)
    client, address = signed_in(owner), admin("annotation_annotator_erase", world.person.pk)
    assert client.post(address).status_code == 403
    elsewhere.study.memberships.create(user=owner, role="owner")
    assert client.post(address).status_code == 302
    world.person.refresh_from_db()
    assert world.person.external_id == ""


# A permission and a role: neither is enough.


def test_a_role_without_the_group_opens_nothing(world: World) -> None:
    user = User.objects.create_user("lonely", is_staff=True)
    Membership.objects.create(user=user, study=world.study, role="owner")
    client = signed_in(user)
    for address in pages_of(world)[:2] + pages_of(world)[6:]:
        assert client.get(address).status_code == 403, address


def test_every_permission_without_a_role_opens_nothing(world: World) -> None:
    user = User.objects.create_user("mighty", is_staff=True)
    user.user_permissions.set(Permission.objects.all())
    client = signed_in(user)
    for address in pages_of(world):
        is_list = address.endswith(("/assignment/", "/annotator/", "/judgement/"))
        assert client.get(address).status_code == (200 if is_list else 404), address


def test_an_editor_of_the_study_alone_reads_its_benchmarks_gold_and_changes_nothing(
    world: World,
) -> None:
    client = world.client("editor", benchmark=False)
    example = world.study.batches.get().test_set.examples.first()
    assert example is not None
    benchmark = world.study.benchmark
    assert client.get(admin("annotation_example_change", example.pk)).status_code == 200
    assert client.get(admin("annotation_benchmark_change", benchmark.pk)).status_code == 200
    assert client.get(admin("annotation_example_correct", example.pk)).status_code == 403
    assert client.post(admin("annotation_benchmark_change", benchmark.pk)).status_code == 403
    assert (
        client.get(reverse("scoring:comparison", args=["benchmark", benchmark.name])).status_code
        == 404
    )


def test_a_secret_is_never_shown_again(world: World, admin_client: Client) -> None:
    Channel.objects.filter(pk=world.study.channel_id).update(
        signature_param="sig", signature_secret="s3cr3t"
    )
    address = admin("annotation_channel_change", world.study.channel_id)
    for client in (admin_client, world.client("owner"), world.client("viewer")):
        assert "s3cr3t" not in text(client, address)
    assert world.client("owner").post(address, {"name": "mine"}).status_code == 403


# Whose things are that are made.


def test_who_copies_a_study_owns_the_copy(world: World) -> None:
    client = world.client("editor")
    client.post(admin("annotation_study_copy", world.study.pk), {"title": "Again", "slug": "again"})
    made = Study.objects.get(slug="again")
    assert [member.role for member in made.memberships.all()] == ["owner"]


def test_a_command_gives_what_it_makes_to_the_owner_it_is_told(tmp_path: Any) -> None:
    owner = make.researcher("anna")
    file = tmp_path / "texts.csv"
    file.write_text("text,label\n" + "".join(f"text {n},{'ab'[n % 2]}\n" for n in range(40)))
    options = {"benchmark": "hers", "few_shot": 2, "zero_shot": 0}
    before = {*Benchmark.objects.all()}
    with pytest.raises(CommandError, match="“nobody”"):
        call_command("sample_episodes", str(file), owner="nobody", **options)
    assert {*Benchmark.objects.all()} == before
    call_command("sample_episodes", str(file), owner="anna", **options)
    member = Benchmark.objects.get(name="hers").memberships.get()
    assert (member.user, member.role) == (owner, "owner")


@pytest.mark.parametrize(
    "command",
    [
        ["import_benchmark", "."],
        ["import_episodes", "a", "b"],
        ["sample_episodes", "texts.csv", "--benchmark=x"],
        ["import_runs", "."],
        ["load_demo"],
    ],
)
def test_a_command_refuses_an_owner_whom_it_does_not_know(command: list[str]) -> None:
    before = {*Run.objects.all(), *Benchmark.objects.all()}
    with pytest.raises(CommandError, match="“nobody”"):
        call_command(*command, "--owner=nobody")
    assert {*Run.objects.all(), *Benchmark.objects.all()} == before
