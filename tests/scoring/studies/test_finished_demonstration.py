"""The finished study of the demonstration: what a newcomer sees on its pages and gets in files."""

import json
import re
from collections import Counter
from io import StringIO

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from annotation.models import Assignment, Batch, Comment, Exclusion, Payout, Place, Study
from annotation.payments import ledger
from annotation.studies.monitoring import people_of
from scoring.analysis import analysing
from scoring.analysis.tasks import freeze_claims
from scoring.cells.scope import Choices, Scope
from scoring.comparison.comparing import compare
from scoring.models import FrozenClaims
from tests.every import every
from tests.made_once import once_a_module

pytestmark = pytest.mark.django_db
SLUG = "demonstration-finished"
BAND = "<strong>Simulated people.</strong>"
# With what each shows of its rows.
PAGES = {
    "overview": ("/research/studies/{slug}/watch/", "70 of 70 places finished"),
    "settings": ("/research/studies/{slug}/settings/", 'name="consent_text"'),
    "people": ("/research/studies/{slug}/people/", r"(\d+) of \1 people.*<td [^>]*>completed"),
    "person": ("/research/studies/{slug}/people/{person}/", "<tbody>"),
    "payments": (
        "/research/studies/{slug}/payments/",
        r"bonuses.*<td [^>]*>yes\b",
    ),
    "comparison": ("/studies/{slug}/comparison/", "SIMULATED PEOPLE beat .*Supplement"),
    "items": ("/studies/{slug}/comparison/items/", r"16 of 16 items.*<tbody>"),
    "item": ("/studies/{slug}/comparison/items/{example}/", r"\(simulated\)"),
    "tests": ("/studies/{slug}/comparison/analysis/", "SIMULATED PEOPLE count as people"),
    "report": ("/studies/{slug}/report/", "What was found.*SIMULATED PEOPLE beat"),
    "data": ("/research/studies/{slug}/data/", "judgements"),
    "log": ("/research/studies/{slug}/log/", "closed"),
}
FILES = (
    "/research/studies/{slug}/payments.csv",
    "/research/studies/{slug}/payments.prolific",
    "/research/studies/{slug}/people.csv",
    "/studies/{slug}/comparison/export/csv/",
    "/studies/{slug}/comparison/export/xlsx/",
)


def load_demo() -> str:
    printed = StringIO()
    call_command("load_demo", stdout=printed, stderr=StringIO())
    return printed.getvalue()


def loaded() -> str:
    printed = load_demo()
    freeze_claims()
    study = Study.objects.get(slug=SLUG)
    for choices in (Choices(), Choices(simulated=True)):
        compare(Scope(study.benchmark, study), choices)  # kept for every test
    return printed


printed = once_a_module(loaded)


@pytest.fixture
def study(printed: str) -> Study:
    return Study.objects.get(slug=SLUG)


def test_the_other_is_there_to_try_once(printed: str) -> None:
    study = Study.objects.get(slug="demonstration")
    assert study.is_open
    assert not study.is_demonstration
    assert Batch.objects.filter(study=study).count() == 6 * (1 + 3 * 5)
    assert not Assignment.objects.filter(study=study).exists()
    assert Place.objects.filter(batch__study=study, holder__isnull=True).count() == 120
    assert f"/join/{study.join_token}/" in printed
    before = Assignment.objects.count()
    assert load_demo() == printed
    assert Assignment.objects.count() == before


def address(study: Study, pattern: str) -> str:
    first = study.assignments.order_by("pk")[0]
    example = first.judgements.of_test().order_by("pk")[0].example_id
    return pattern.format(slug=SLUG, pk=study.pk, person=first.pk, example=example)


@pytest.mark.parametrize("name", PAGES)
def test_every_page_is_filled_and_says_that_its_people_are_simulated(
    study: Study, admin_client: Client, name: str
) -> None:
    pattern, rows = PAGES[name]
    shown = admin_client.get(address(study, pattern)).content.decode()
    assert shown.count(BAND) == 1
    assert re.search(rows, shown, re.DOTALL)


def test_its_analysis_has_rows_of_every_cell(study: Study) -> None:
    scope, choices = Scope(study.benchmark, study), Choices(simulated=True)
    analysis = analysing.analyse(scope, choices)
    for part in (analysis.tests, analysis.uncertainty, analysis.agreement, analysis.curves):
        assert part


@pytest.mark.parametrize("file", FILES)
def test_no_file_is_named_as_if_people_were_in_it(
    study: Study, admin_client: Client, file: str
) -> None:
    response = admin_client.get(address(study, file))
    assert response.status_code == 200
    assert SLUG in response["Content-Disposition"]


def test_is_a_finished_study(study: Study) -> None:
    assert study.is_demonstration
    assert study.is_settled
    assert study.named_systems
    assert study.margin
    assert not Place.objects.filter(batch__study=study, kept=False).exists()
    outcomes = Counter(study.assignments.values_list("outcome", flat=True))
    assert outcomes["screened_out"] > 0
    (excluded,) = Exclusion.objects.filter(assignment__study=study)
    assert Comment.objects.filter(assignment=excluded.assignment).exists()
    assert outcomes["completed"] == study.batches.count() + 5 * 6 + 1  # two a batch of the crowd
    assert Comment.objects.filter(assignment__study=study).count() == 2


def test_its_payments_are_approved_and_partly_sent(study: Study) -> None:
    dues = ledger.dues(study)
    assert {due.is_approved for due in dues} == {True, False}
    assert {due.sent > 0 for due in dues if due.is_approved} == {True, False}
    assert Payout.objects.filter(study=study).count() == 1
    assert len(dues) == len(people_of(study))


def test_its_verdicts_are_frozen_with_a_supplement_beside_them(study: Study) -> None:
    table = compare(Scope(study.benchmark, study))
    assert FrozenClaims.objects.get(study=study).claims["tests"]
    named = [test for test in table.tests if not test.supplement]
    # Not each: in which order people come to the examples is another in each installation.
    enough = [test.certainty for test in named if test.n and test.n >= 8]
    assert enough.count("sure") > len(enough) / 2
    assert {test.certainty for test in named if test.n and test.n < 8} <= {"probable", None}
    assert every(test.simulated for test in table.tests)
    assert any(test.supplement for test in table.tests)
    assert {row.kind for row in table.rows if row.study} == {"simulated"}


def test_rows_are_simulated_with_and_without_the_switch(study: Study) -> None:
    for switch in ({}, {"simulated": True}):
        out = StringIO()
        call_command("export_comparison", study=SLUG, format="json", stdout=out, **switch)
        kinds = Counter(row["kind"] for row in json.loads(out.getvalue())["rows"] if row["study"])
        assert set(kinds) == {"simulated"}


def test_its_answers_and_report_say_it(study: Study) -> None:
    answers, report = StringIO(), StringIO()
    call_command("export_judgements", study=SLUG, format="jsonl", stdout=answers)
    rows = [json.loads(line) for line in answers.getvalue().splitlines()]
    assert rows
    assert every(row["simulated"] for row in rows)
    call_command("export_report", study=SLUG, stdout=report)
    assert "demonstration with simulated annotators" in report.getvalue()
    assert not re.search("[Rr]ehears", report.getvalue())


def test_home_leads_to_both_studies(study: Study, admin_client: Client) -> None:
    page = admin_client.get("/").content.decode()
    join = reverse(
        "annotation:join_study", args=[Study.objects.get(slug="demonstration").join_token]
    )
    assert re.search(rf'href="/studies/{SLUG}/comparison/">Look at a finished study<', page)
    assert re.search(rf'href="{join}">Try it as an annotator<', page)


def test_the_study_to_try_says_what_to_do_first(study: Study, admin_client: Client) -> None:
    people = admin_client.get("/research/studies/demonstration/people/").content.decode()
    assert "Send people the link on the Overview" in people
    assert not Assignment.objects.filter(study__slug="demonstration").exists()


def test_logs_what_happened_at_the_times_of_its_story(study: Study) -> None:
    logged = {change.action: change.at for change in study.changes.all()}
    assert logged["started"] == study.started_at
    excluded = Exclusion.objects.get(assignment__study=study)
    assert logged["excluded"] == excluded.created_at
    assert excluded.assignment.finished_at < logged["excluded"] < logged["closed"]
    comments = Comment.objects.filter(assignment__study=study)
    assert comments.latest("written_at").written_at < logged["excluded"]
    came = study.assignments.order_by("consented_at").values_list("consented_at", flat=True)
    assert logged["started"] <= came[0]
    assert logged["excluded"] <= came.reverse()[0]


def test_warns_that_its_frozen_verdicts_get_a_new_version(
    study: Study, admin_client: Client
) -> None:
    excluded = Exclusion.objects.get(assignment__study=study).assignment
    page = reverse("annotation:person", args=[SLUG, excluded.pk])
    assert "its verdicts get a new version" in admin_client.get(page).content.decode()
