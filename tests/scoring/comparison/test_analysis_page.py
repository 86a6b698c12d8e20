import csv
import json
import re
from copy import deepcopy
from io import BytesIO, StringIO

import pytest
from django.contrib.auth.models import User
from django.test import Client
from openpyxl import load_workbook

from annotation.jobs.queue import run_job
from annotation.models import Batch, Exclusion, Job, JobState
from annotation.studies.lifecycle import close_study
from annotation.studies.people import exclude
from scoring.analysis.tables import ALL
from scoring.models import Comparison, Part
from tests import make
from tests.made_once import once_a_module
from tests.scoring.comparison import measured

pytestmark = pytest.mark.django_db


def closed_cell() -> Batch:
    made = measured.cell([3, 4, 6])
    measured.run(made.task, wrong=3)
    make.closed(made.study)
    return made


cell_once = once_a_module(closed_cell)


@pytest.fixture
def batch(cell_once: Batch) -> Batch:
    return deepcopy(cell_once)


def address(batch: Batch, rest: str = "") -> str:
    return f"/studies/{batch.study.slug}/comparison/analysis/{rest}"


@pytest.fixture
def computed(admin_client: Client, batch: Batch) -> Batch:
    admin_client.get(address(batch))
    run_job(Job.objects.get().pk)
    return batch


def test_shows_every_table_of_the_analysis(admin_client: Client, computed: Batch) -> None:
    text = admin_client.get(address(computed)).content.decode()
    for title in (
        "People against systems",
        "The uncertainty of each cell",
        "Consensus and agreement",
        "Learning over the training items",
    ):
        assert title in text
    assert "BERT-Base" in text
    assert "Stale" not in text


def test_tells_what_the_figures_rest_on(admin_client: Client, computed: Batch) -> None:
    kept = Comparison.objects.get(part=Part.ANALYSIS)
    text = admin_client.get(address(computed)).content.decode()
    assert f"the inputs {kept.fingerprint[:12]}, seed {kept.seed}, scorer version" in text


def test_says_a_verdict_from_the_side_of_people_as_the_table_does(
    admin_client: Client,
) -> None:
    batch = measured.cell([3, 4, 3, 4, 3], tests=40)
    measured.run(batch.task, wrong=30, method="FT", parameters="110M")
    make.closed(batch.study)
    admin_client.get(address(batch))
    run_job(Job.objects.get().pk)
    text = admin_client.get(address(batch)).content.decode()
    assert '<span class="sign">△</span>&nbsp;people ahead, probable' in text
    assert '<summary>BERT-Base <span class="method">FT (110M)</span>' in text
    assert "People minus system" in text


def test_says_once_what_all_figures_are_under(admin_client: Client, computed: Batch) -> None:
    text = admin_client.get(address(computed)).content.decode()
    assert text.count("Gold version: 1") == 1
    assert "<dt>Gold version</dt>" not in text
    assert "<dt>Direction</dt>" not in text


def test_keeps_the_table_open_that_was_sorted(admin_client: Client, computed: Batch) -> None:
    def opened(query: str) -> list[str]:
        text = admin_client.get(address(computed, query)).content.decode()
        return re.findall(r'<section id="([\w-]+)">\s*<details class="part" open>', text)

    assert opened("") == ["tests"]
    assert opened("?sort=uncertainty:-mean") == ["uncertainty"]
    assert opened("?columns-agreement=masi") == ["agreement"]


def test_orders_the_analysis_on_the_first_look_and_shows_its_progress(
    admin_client: Client, batch: Batch
) -> None:
    text = admin_client.get(address(batch)).content.decode()
    assert "are being computed" in text
    assert Job.objects.get().kind == "analyse_comparison"
    admin_client.get(address(batch))
    assert Job.objects.count() == 1


def test_answers_a_poll_with_the_progress_alone(admin_client: Client, batch: Batch) -> None:
    response = admin_client.get(address(batch), headers={"HX-Request": "true"})
    text = response.content.decode()
    assert "are being computed" in text
    assert "<html" not in text


def test_brings_the_page_when_the_job_is_over(admin_client: Client, computed: Batch) -> None:
    response = admin_client.get(address(computed), headers={"HX-Request": "true"})
    assert response["HX-Refresh"] == "true"


def test_shows_old_figures_as_stale_until_they_are_computed_again(
    admin_client: Client, computed: Batch
) -> None:
    exclude(computed.assignments.earliest("pk"), reason="a machine")
    text = admin_client.get(address(computed)).content.decode()
    assert "Stale" in text
    assert "People against systems" in text
    run_job(Job.objects.latest("pk").pk)
    assert "Stale" not in admin_client.get(address(computed)).content.decode()


def test_stops_on_request_and_starts_again_on_request(admin_client: Client, batch: Batch) -> None:
    admin_client.get(address(batch))
    admin_client.post(address(batch, "stop/"))
    run_job(Job.objects.get().pk)
    assert Job.objects.get().state == JobState.CANCELLED
    text = admin_client.get(address(batch)).content.decode()
    assert "Compute them" in text
    assert Job.objects.count() == 1
    response = admin_client.post(address(batch, "order/?references=set"))
    assert response["Location"] == address(batch, "?references=set")
    assert Job.objects.count() == 2


@pytest.mark.parametrize("form", ["csv", "json", "latex", "markdown", "xlsx"])
def test_exports_a_table(admin_client: Client, computed: Batch, form: str) -> None:
    response = admin_client.get(address(computed, f"export/tests/{form}/"))
    assert response.status_code == 200
    if form == "csv":
        [row] = csv.DictReader(StringIO(response.content.decode()))
        assert {"p", "p_holm"} <= set(row)
    elif form == "json":
        [row] = json.loads(response.content)["tests"]
        assert row["system"] == "BERT-Base"
    elif form == "xlsx":
        assert load_workbook(BytesIO(response.content)).sheetnames == [
            "tests",
            "provenance",
            "meanings",
        ]
    else:
        assert "BERT-Base" in response.content.decode()


def test_draws_the_learning_curves_and_gives_their_points_as_csv_alone(
    admin_client: Client, computed: Batch
) -> None:
    text = admin_client.get(address(computed)).content.decode()
    section = text.partition('<section id="curves">')[2].partition("</section>")[0]
    assert "curves/fragment/" in section
    assert "<table" not in section
    response = admin_client.get(address(computed, "export/curves/csv/"))
    first, *_ = csv.DictReader(StringIO(response.content.decode()))
    assert first["first"] == "1"
    assert "curves" not in json.loads(
        admin_client.get(address(computed, "export/all/json/")).content
    )
    assert admin_client.get(address(computed, "export/curves/latex/")).status_code == 404


@pytest.mark.parametrize("form", ["json", "latex", "markdown", "xlsx"])
def test_exports_all_tables_at_once(admin_client: Client, computed: Batch, form: str) -> None:
    assert admin_client.get(address(computed, f"export/all/{form}/")).status_code == 200


def test_says_in_a_document_what_it_rests_on_and_that_it_is_stale(
    admin_client: Client, computed: Batch
) -> None:
    kept = Comparison.objects.get(part=Part.ANALYSIS)
    fresh = admin_client.get(address(computed, "export/all/json/"))
    [told] = json.loads(fresh.content)["provenance"]
    assert (told["inputs"], told["stale"]) == (kept.fingerprint[:12], False)
    assert (told["seed"], told["scorer_version"]) == (kept.seed, kept.scorer_version)
    assert "stale" not in fresh["Content-Disposition"]
    measured.run(computed.task, wrong=1, system="Another")
    stale = admin_client.get(address(computed, "export/all/json/"))
    assert json.loads(stale.content)["provenance"][0]["stale"]
    for form in ("csv", "latex"):
        response = admin_client.get(address(computed, f"export/tests/{form}/"))
        assert "-stale." in response["Content-Disposition"]


@pytest.mark.parametrize("rest", ["export/all/csv/", "export/none/csv/", "export/tests/pdf/"])
def test_does_not_export_what_is_not_there(
    admin_client: Client, computed: Batch, rest: str
) -> None:
    assert admin_client.get(address(computed, rest)).status_code == 404


@pytest.mark.parametrize("figure", ["differences", "curves"])
def test_draws_its_figures(admin_client: Client, computed: Batch, figure: str) -> None:
    response = admin_client.get(address(computed, f"{figure}/fragment/"))
    assert response.content.startswith(b"<svg")
    assert admin_client.get(address(computed, f"{figure}/pdf/")).content.startswith(b"%PDF")


def test_has_no_figure_before_the_analysis(admin_client: Client, batch: Batch) -> None:
    assert admin_client.get(address(batch, "curves/svg/")).status_code == 404


def test_names_every_exported_column_once() -> None:
    for table in ALL:
        assert len(table.keys) == len(set(table.keys))


@pytest.mark.parametrize("rest", ["", "export/all/json/", "curves/svg/"])
def test_does_not_exist_for_strangers(client: Client, batch: Batch, rest: str) -> None:
    assert client.get(address(batch, rest))["Location"].startswith("/admin/login/")
    client.force_login(User.objects.create_user("somebody"))
    assert client.get(address(batch, rest)).status_code == 404


@pytest.mark.parametrize("rest", ["order/", "stop/"])
def test_changes_nothing_for_others(client: Client, batch: Batch, rest: str) -> None:
    client.force_login(User.objects.create_user("somebody"))
    assert client.post(address(batch, rest)).status_code == 404
    assert Job.objects.count() == 0


def test_exports_in_english_whatever_language_the_page_is_read_in(
    admin_client: Client, computed: Batch
) -> None:
    measured_again = computed.assignments.last()
    Exclusion.objects.create(assignment=measured_again, reason="random answers")
    admin_client.get(address(computed))
    run_job(Job.objects.latest("pk").pk)
    texts = [
        admin_client.get(
            address(computed, "export/all/latex/"), headers={"Accept-Language": language}
        ).content
        for language in ("en", "de")
    ]
    assert b"Mean without" in texts[0]
    assert texts[0] == texts[1]


def test_leaves_out_columns_that_the_page_says_already(
    admin_client: Client, computed: Batch
) -> None:
    text = admin_client.get(address(computed)).content.decode()
    assert "<dt>Simulated</dt>" not in text
    assert "<dt>Study</dt>" not in text


def test_shows_the_size_of_systems_where_one_has_a_size(admin_client: Client, batch: Batch) -> None:
    head = "(770M)"
    admin_client.get(address(batch))
    run_job(Job.objects.latest("pk").pk)
    assert head not in admin_client.get(address(batch)).content.decode()
    measured.run(batch.task, wrong=1, system="T5", parameters="770M")
    admin_client.get(address(batch))
    run_job(Job.objects.latest("pk").pk)
    assert head in admin_client.get(address(batch)).content.decode()


def test_names_the_study_on_the_page_of_a_benchmark(admin_client: Client, computed: Batch) -> None:
    of_benchmark = f"/benchmarks/{computed.study.benchmark.name}/comparison/analysis/"
    admin_client.get(of_benchmark)
    run_job(Job.objects.latest("pk").pk)
    assert "<dt>Study</dt>" in admin_client.get(of_benchmark).content.decode()


def test_offers_no_export_of_nothing(admin_client: Client) -> None:
    study = make.study(make.benchmark())
    of_nothing = f"/studies/{study.slug}/comparison/analysis/"
    admin_client.get(of_nothing)
    run_job(Job.objects.latest("pk").pk)
    text = admin_client.get(of_nothing).content.decode()
    assert "nothing to analyse yet" in text
    assert "analysis/export/" not in text


def test_says_which_studies_may_still_change(admin_client: Client) -> None:
    computed = measured.cell([3, 4])
    admin_client.get(address(computed))
    run_job(Job.objects.get().pk)
    title = computed.study.title
    told = f"Interim, not closed: {title}."
    assert told in admin_client.get(address(computed)).content.decode()
    document = json.loads(admin_client.get(address(computed, "export/all/json/")).content)
    assert document["provenance"][0]["interim"] == title
    close_study(computed.study, at=make.NOON)
    assert told not in admin_client.get(address(computed)).content.decode()
    document = json.loads(admin_client.get(address(computed, "export/all/json/")).content)
    assert document["provenance"][0]["interim"] is None
