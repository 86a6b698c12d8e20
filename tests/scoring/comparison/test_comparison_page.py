import re
from copy import deepcopy
from io import BytesIO

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils.html import strip_tags
from openpyxl import load_workbook

from annotation.jobs.queue import run_job
from annotation.models import Batch, Exclusion, Job
from scoring.comparison import views
from scoring.models import Comparison
from tests import make
from tests.made_once import once_a_module
from tests.scoring.comparison import measured

pytestmark = pytest.mark.django_db


def made_batch() -> Batch:
    made = measured.cell([3, 4, 5])
    measured.run(made.task, wrong=2)
    measured.reported(made.study.benchmark, made.task.slug)
    return made


batch_once = once_a_module(made_batch)


@pytest.fixture
def batch(batch_once: Batch) -> Batch:
    return deepcopy(batch_once)


def page(client: Client, batch: Batch, rest: str = "", **chosen: str) -> str:
    response = client.get(f"/studies/{batch.study.slug}/comparison/{rest}", chosen)
    assert response.status_code == 200
    return response.content.decode()


def test_shows_people_systems_and_annotators_in_one_table(
    admin_client: Client, batch: Batch
) -> None:
    text = page(admin_client, batch, view="wide", simulated="on")
    assert "Human, " + batch.study.title in text
    assert "BERT-Base" in text
    assert "GPT-3" in text
    assert "CLUES Table 6" in text
    for assignment in batch.assignments.all():
        assert assignment.annotator.pseudonym in text


def test_puts_the_consensus_on_a_line_of_its_own(admin_client: Client, batch: Batch) -> None:
    assert ">Consensus" in page(admin_client, batch, view="wide")
    assert "Consensus &" in page(admin_client, batch, "export/latex-appendix/")
    assert "| Consensus |" in page(admin_client, batch, "export/markdown/")


def test_speaks_english_whatever_the_browser_asks_for(admin_client: Client, batch: Batch) -> None:
    address = f"/studies/{batch.study.slug}/comparison/"
    text = admin_client.get(address, headers={"Accept-Language": "de"}).content.decode()
    assert '<html lang="en"' in text
    assert not re.search(r">\d+,\d<", text)


def test_marks_published_figures_whose_policy_is_unknown(
    admin_client: Client, batch: Batch
) -> None:
    for at in ("3", "10"):
        text = page(admin_client, batch, at=at)
        assert ("Published without its reference policy" in text) == (at == "10")


def test_shows_the_comparison_of_a_benchmark(admin_client: Client, batch: Batch) -> None:
    response = admin_client.get(f"/benchmarks/{batch.study.benchmark.name}/comparison/")
    assert batch.study.title in response.content.decode()


def test_follows_the_readers_choices(admin_client: Client, batch: Batch) -> None:
    Exclusion.objects.create(assignment=batch.assignments.last(), reason="random answers")
    assert "n = 2" in page(admin_client, batch)
    assert "n = 3" in page(admin_client, batch, with_excluded="on")
    assert "references set" in page(admin_client, batch, "export/latex/", references="set")


def test_shows_systems_on_all_that_they_ran_on_where_it_is_asked_for(
    admin_client: Client, batch: Batch
) -> None:
    measured.run(batch.task, wrong=4, split=2)
    text = page(admin_client, batch, "export/markdown/", runs="all")
    assert "r = 2, m = 6" in text
    assert "▲" not in text
    assert "r = 2" not in page(admin_client, batch, "export/markdown/")
    address = f"/studies/{batch.study.slug}/comparison/"
    assert admin_client.get(address, {"runs": "some"}).status_code == 404


def test_refuses_choices_that_do_not_exist(admin_client: Client, batch: Batch) -> None:
    address = f"/studies/{batch.study.slug}/comparison/"
    assert admin_client.get(address, {"estimand": "all"}).status_code == 404
    assert admin_client.get(address, {"references": "both"}).status_code == 404


def test_keeps_the_choices_in_its_export_links(admin_client: Client, batch: Batch) -> None:
    text = page(admin_client, batch, references="set")
    assert f'/studies/{batch.study.slug}/comparison/export/csv/?references=set"' in text


@pytest.mark.parametrize("form", ["csv", "json", "latex-appendix", "markdown", "xlsx"])
def test_exports_the_same_table(admin_client: Client, batch: Batch, form: str) -> None:
    response = admin_client.get(f"/studies/{batch.study.slug}/comparison/export/{form}/")
    part = "-appendix" if form == "latex-appendix" else ""
    expected = f'attachment; filename="comparison-{batch.study.slug}{part}.'
    assert response["Content-Disposition"].startswith(expected)
    if form == "xlsx":
        assert load_workbook(BytesIO(response.content))["comparison"].max_row == 7
    else:
        assert "GPT-3" in response.content.decode()


def test_draws_the_figure_into_the_page_and_into_files(admin_client: Client, batch: Batch) -> None:
    assert page(admin_client, batch, "shots/fragment/").startswith("<svg")
    heads = {"svg": b"<?xml", "pdf": b"%PDF", "png": b"\x89PNG"}
    for form, head in heads.items():
        response = admin_client.get(f"/studies/{batch.study.slug}/comparison/shots/{form}/")
        assert response.content.startswith(head)


def test_draws_nothing_against_a_single_number_of_shots(admin_client: Client, batch: Batch) -> None:
    assert "shots/fragment/" not in page(admin_client, batch)


def test_says_that_there_is_nothing_to_compare_yet(admin_client: Client) -> None:
    text = page(admin_client, measured.cell([]))
    assert "Nothing to compare yet" in text


def test_shows_a_long_computation_and_what_there_was_before(
    admin_client: Client, batch: Batch, monkeypatch: pytest.MonkeyPatch
) -> None:
    page(admin_client, batch)
    make.worked_through(batch)
    monkeypatch.setattr("scoring.comparison.comparing.MOST_WHILE_WAITING", 0)
    text = page(admin_client, batch)
    assert "are being computed" in text
    assert "Stale" in text
    assert "BERT-Base" in text
    job = Job.objects.get()
    address = f"/studies/{batch.study.slug}/comparison/"
    poll = admin_client.get(address, headers={"HX-Request": "true"})
    assert "<html" not in poll.content.decode()
    run_job(job.pk)
    poll = admin_client.get(address, headers={"HX-Request": "true"})
    assert poll["HX-Refresh"] == "true"
    assert "Stale" not in page(admin_client, batch)


def test_leads_an_export_to_the_page_that_waits(
    admin_client: Client, batch: Batch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("scoring.comparison.comparing.MOST_WHILE_WAITING", 0)
    address = f"/studies/{batch.study.slug}/comparison/"
    export = admin_client.get(f"{address}export/csv/", {"references": "set"})
    assert (export.status_code, export["Location"]) == (302, f"{address}?references=set")
    run_job(Job.objects.get().pk)
    assert admin_client.get(f"{address}export/csv/", {"references": "set"}).status_code == 200


def test_stops_on_request_and_starts_again_on_request(
    admin_client: Client, batch: Batch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("scoring.comparison.comparing.MOST_WHILE_WAITING", 0)
    address = f"/studies/{batch.study.slug}/comparison/"
    admin_client.get(address)
    admin_client.post(f"{address}stop/")
    run_job(Job.objects.get().pk)
    assert "Compute them" in page(admin_client, batch)
    assert Job.objects.count() == 1
    response = admin_client.post(f"{address}order/?references=any")
    assert response["Location"] == f"{address}?references=any"
    assert Job.objects.count() == 2


def test_computes_nothing_for_an_export_of_what_was_stopped(
    admin_client: Client, batch: Batch, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is too much for a page, whoever stopped the worker."""
    monkeypatch.setattr("scoring.comparison.comparing.MOST_WHILE_WAITING", 0)
    address = f"/studies/{batch.study.slug}/comparison/"
    admin_client.get(address)
    admin_client.post(f"{address}stop/")
    run_job(Job.objects.get().pk)
    assert admin_client.get(f"{address}export/csv/")["Location"] == address
    assert Job.objects.count() == 1
    assert not Comparison.objects.get().result


@pytest.mark.parametrize("rest", ["", "export/csv/", "shots/svg/"])
def test_does_not_exist_for_strangers(client: Client, batch: Batch, rest: str) -> None:
    address = f"/studies/{batch.study.slug}/comparison/{rest}"
    assert client.get(address)["Location"].startswith("/admin/login/")
    client.force_login(User.objects.create_user("somebody"))
    assert client.get(address).status_code == 404


@pytest.mark.parametrize("rest", ["order/", "stop/"])
def test_changes_nothing_for_others(client: Client, batch: Batch, rest: str) -> None:
    client.force_login(User.objects.create_user("somebody"))
    assert client.post(f"/studies/{batch.study.slug}/comparison/{rest}").status_code == 404
    assert Job.objects.count() == 0


@pytest.mark.parametrize(
    "address",
    ["/studies/none/comparison/", "/benchmarks/none/comparison/", "/tasks/none/comparison/"],
)
def test_does_not_find_what_is_not_there(admin_client: Client, address: str) -> None:
    assert admin_client.get(address).status_code == 404


@pytest.mark.parametrize("version", ["2", "99999999999999999999", "x", "0", "-1"])
@pytest.mark.parametrize("rest", ["", "export/csv/", "analysis/", "items/"])
def test_refuses_a_gold_version_that_does_not_exist(
    admin_client: Client, batch: Batch, rest: str, version: str
) -> None:
    address = f"/studies/{batch.study.slug}/comparison/{rest}"
    assert admin_client.get(address, {"gold_version": "1"}).status_code == 200
    assert admin_client.get(address, {"gold_version": version}).status_code == 404


def test_says_why_no_people_stand_in_the_table(admin_client: Client) -> None:
    made = measured.cell([])
    measured.run(made.task)
    notice = "There are no people in this table"
    assert notice in page(admin_client, made)
    assert notice not in page(admin_client, made, simulated="on")


def test_tells_what_people_and_systems_rest_on(admin_client: Client, batch: Batch) -> None:
    for number in (2, 3):
        measured.run(batch.task, wrong=1, split=number)
    text = page(admin_client, batch, view="wide", runs="all")
    assert '<span class="soft size">n = 3, m = 6</span>' in text
    assert '<span class="soft size">r = 3, m = 6</span>' in text


def test_is_headed_by_the_title_of_what_is_compared(admin_client: Client, batch: Batch) -> None:
    for rest in ("", "analysis/", "items/"):
        [heading] = re.findall("<h1>(.*)</h1>", page(admin_client, batch, rest))
        assert strip_tags(heading) == f"Comparison of the study {batch.study.title}"


def test_names_no_method_where_it_is_another_one(admin_client: Client, batch: Batch) -> None:
    measured.run(batch.task, system="Overlap", method="other", wrong=2)
    for view in ("", "wide"):
        text = " ".join(re.sub(r"<[^>]+>", " ", page(admin_client, batch, view=view)).split())
        assert "Overlap" in text
        assert not re.search(r"Overlap,? other", text)


def test_keeps_most_columns_of_the_intervals_behind_a_line(
    admin_client: Client, batch: Batch
) -> None:
    def heads(**chosen: str) -> str:
        html = page(admin_client, batch, view="wide", **chosen)
        table = html.split('class="figures cards intervals')[1]
        return table.split("</thead>")[0]

    usual = heads()
    assert usual.count("<th ") == 8
    assert "Gold version" not in usual
    chosen = heads(**{"columns-intervals": "gold_version"})
    assert chosen.count("<th ") == 2
    assert "Gold version" in chosen


def test_shows_a_page_of_the_annotators_at_a_time(
    admin_client: Client, batch: Batch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(views, "PER_PAGE", 1)
    people = [person.annotator.pseudonym for person in batch.assignments.all()]
    pages = [page(admin_client, batch, view="wide", page=str(1 + n)) for n in range(len(people))]
    seen = [[name for name in people if name in text] for text in pages]
    assert sorted(seen) == sorted([name] for name in people)


def test_says_that_people_were_screened_by_the_training(admin_client: Client) -> None:
    batch = make.running_batch(min_training_score=60, wanted=2)
    make.worked_through(batch)
    make.worked_through(batch, wrong=3)
    said = "These people passed the training (60 % or more); 50 % of those who finished it did not."
    make.closed(batch.study)
    assert said in page(admin_client, batch)
    batch.study.min_training_score = None
    assert views._screened(batch.study, "3") == ""
