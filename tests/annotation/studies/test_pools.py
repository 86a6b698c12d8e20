"""Pools: groups of a study's people, each with a link, a qualification and figures of its own."""

from typing import Any

import pytest
from django.db import DatabaseError, IntegrityError, transaction
from django.test import Client
from django.urls import reverse

from annotation.models import Batch, Kind, Outcome, Pool, Role, Study
from annotation.models.errors import BadInput
from annotation.studies.drafting import copy_study
from annotation.studies.lifecycle import start_study, what_is_missing
from annotation.work.joining import Full, NotOpen, Visit, join
from scoring.cells.rows import RowKind
from scoring.cells.scope import Choices, Scope
from scoring.comparison.answer import answers
from scoring.comparison.comparing import compare
from scoring.comparison.comparison import Comparison
from scoring.planning.pilots import read_pilot
from tests import make
from tests.scoring.comparison.measured import run

pytestmark = pytest.mark.django_db


def draft(**fields: Any) -> Study:
    """Nurses and students on the same items after three shots."""
    benchmark = make.benchmark()
    task = make.task(benchmark, kind=Kind.CHOICE, training=3, tests=8)
    study = make.study(benchmark, **fields)
    for name in ("Nurses", "Students"):
        pool = Pool.objects.create(study=study, name=name, slug=name.lower())
        batch = make.batch(study, task, wanted=5)
        batch.pool = pool
        batch.save()
    return study


def started(**fields: Any) -> tuple[Study, Batch, Batch]:
    study = draft(**fields)
    start_study(study, at=make.NOON)
    nurses, students = study.batches.order_by("pk")
    return study, nurses, students


def compared(study: Study) -> Comparison:
    return compare(Scope(study.benchmark, study), Choices())


def test_each_link_leads_to_its_own_batches(client: Client) -> None:
    study, nurses, students = started()
    for batch in (nurses, students):
        assert batch.pool is not None
        someone = make.annotator()
        visit = Visit(study=study, annotator=someone, pool=batch.pool)
        assert join(visit, at=make.NOON).batch == batch
    with pytest.raises(NotOpen, match="a link of its own"):
        join(Visit(study=study, annotator=make.annotator()), at=make.NOON)
    address = reverse("annotation:join_pool", args=[nurses.pool.join_token])
    assert client.get(address, follow=True).status_code == 200
    client.post(reverse("annotation:consent"), {"agree": "1"})
    assert nurses.assignments.count() == 2
    page = Client().get(reverse("annotation:join_study", args=[study.join_token]), follow=True)
    assert "a link of its own" in page.content.decode()


def test_nobody_is_in_two_pools() -> None:
    study = draft()
    other = make.task(study.benchmark, training=3, tests=4)
    batch = make.batch(study, other)
    batch.pool = study.pools.get(slug="students")
    batch.save()
    start_study(study, at=make.NOON)
    who = make.annotator()
    nurses, students = study.pools.order_by("slug")
    make.worked_through(study.batches.get(pool=nurses), who=who)
    with pytest.raises(Full, match="another group of this study"):
        join(Visit(study=study, annotator=who, pool=students, submission_id="new"), at=make.NOON)


def test_has_a_qualification_of_its_own() -> None:
    study = draft(min_check_score=50)
    checks = make.task(study.benchmark, training=0, tests=1)
    examples = [make.example(checks, f"c {n}", role=Role.TRAINING) for n in range(10)]
    item_set = make.item_set(checks, examples, name="checks", shots=10, split=9)
    study.batches.update(check_set=item_set)
    study.pools.filter(slug="nurses").update(min_check_score=90)
    start_study(study, at=make.NOON)
    nurses, students = study.batches.order_by("pk")
    # Three of ten are wrong.
    assert make.worked_through(nurses, wrong=3).outcome == Outcome.SCREENED_OUT
    assert make.worked_through(students, wrong=3).outcome == Outcome.COMPLETED
    assert [pool["min_check_score"] for pool in study.frozen["pools"]] == [90, None]


def test_a_group_is_that_of_its_own_pool() -> None:
    _, nurses, students = started(max_drop=10, drop_group_size=2)
    for _ in range(2):
        make.worked_through(nurses)
    with_others = make.worked_through(nurses, wrong=2)
    alone = make.worked_through(students, wrong=2)
    assert (with_others.outcome, alone.outcome) == (Outcome.SCREENED_OUT, Outcome.COMPLETED)


def test_says_what_is_missing() -> None:
    study = draft()
    Pool.objects.create(study=study, name="Crowd", slug="crowd")
    batch = study.batches.first()
    assert batch is not None
    batch.pool = None
    batch.save()
    study.pools.filter(slug="students").update(min_check_score=80)
    told = what_is_missing(study)
    assert "Some batches are of a pool and others of none: give each of them a pool." in told
    assert "The pool Crowd has no batches: add some, or take it out." in told
    assert any("The pool Students has a least share of the checks" in one for one in told)


def test_is_a_row_of_its_own_and_never_mixed() -> None:
    study, nurses, students = started()
    for _ in range(3):
        make.worked_through(nurses)
        make.worked_through(students, wrong=7)
    table = compared(study)
    cells = {row.pool: row for row in table.rows if row.kind == RowKind.HUMAN}
    assert {name: (row.n, row.mean) for name, row in cells.items()} == {
        "Nurses": (3, 100),
        "Students": (3, 50),
    }
    people = [row for row in table.rows if row.kind == RowKind.ANNOTATOR]
    assert {(row.pool, row.mean) for row in people} == {("Nurses", 100), ("Students", 50)}
    assert [answer.of for answer in answers(table, "3")] == ["Nurses", "Students"]
    assert [row.pool for row in table.consensus] == ["Nurses", "Students"]


def test_a_system_is_beside_each_of_them(client: Client) -> None:
    study, nurses, students = started()
    for _ in range(5):
        make.worked_through(nurses)
        make.worked_through(students, wrong=8)
    run(nurses.task, system="Tiny", wrong=4)
    table = compared(make.closed(study))
    ahead = {test.pool: test.outcome for test in table.tests}
    assert ahead == {"Nurses": "ahead", "Students": "open"}
    differences = {test.pool: test.difference for test in table.tests}
    assert differences == {"Nurses": 50, "Students": pytest.approx(-12.5)}
    client.force_login(make.member(study))
    page = client.get(reverse("scoring:comparison", args=["study", study.slug]))
    assert "People, Nurses" in page.content.decode()


def test_is_copied_with_the_study() -> None:
    study, _, _ = started()
    copy = copy_study(study, slug="again")
    assert [str(batch.pool) for batch in copy.batches.order_by("pk")] == ["Nurses", "Students"]
    tokens = {pool.join_token for pool in (*study.pools.all(), *copy.pools.all())}
    assert len(tokens) == 4


@pytest.mark.both_databases
@pytest.mark.django_db(transaction=True)
def test_the_database_keeps_it_once_the_study_has_started() -> None:
    study, nurses, students = started()
    for change in (
        lambda: study.pools.update(min_check_score=1),
        lambda: study.pools.update(about="Others"),
        lambda: Batch.objects.filter(pk=nurses.pk).update(pool=students.pool),
        lambda: Pool.objects.create(study=study, name="More", slug="more"),
        lambda: Pool.objects.filter(study=study)._raw_delete("default"),
    ):
        with pytest.raises((DatabaseError, IntegrityError)), transaction.atomic():
            change()


def test_the_same_batch_is_once_in_a_pool() -> None:
    study = draft()
    first = study.batches.order_by("pk").first()
    assert first is not None
    same = {"study": study, "task": first.task, "test_set": first.test_set, "pool": first.pool}
    twice = Batch(**same, training_set=first.training_set)
    with pytest.raises(IntegrityError), transaction.atomic():
        twice.save()
    twice.training_set = None
    twice.save()
    with pytest.raises(IntegrityError), transaction.atomic():
        Batch(**same).save()


def test_is_set_up_on_the_pages(client: Client) -> None:
    study = draft()
    client.force_login(make.member(study))
    page = client.get(reverse("annotation:settings", args=[study.slug])).content.decode()
    assert 'name="pools-0-name"' in page
    start = client.get(reverse("annotation:start", args=[study.slug])).content.decode()
    assert "Link for Nurses" in start
    builder = reverse("scoring:builder", args=[study.slug])
    task = study.batches.first().task.slug
    assert "notice-bad" not in client.get(builder).content.decode()
    ticked = {"cells": [f"{task}:0"], "wanted": 5, "seconds": 10, "add": 1}
    client.post(builder, {**ticked, "pool": study.pools.get(slug="nurses").pk})
    assert [str(one.pool) for one in study.batches.filter(training_set=None)] == ["Nurses"]
    client.post(builder, ticked)
    both = [str(one.pool) for one in study.batches.filter(training_set=None)]
    assert both == ["Nurses", "Students"]


def test_pools_are_handed_the_same_parts(client: Client) -> None:
    study = draft()
    client.force_login(make.member(study))
    task = study.batches.first().task.slug
    parts = {"cells": [f"{task}:0"], "wanted": 5, "seconds": 10, "items": 4, "viewers": 3, "add": 1}
    client.post(reverse("scoring:builder", args=[study.slug]), parts)
    nurses, students = (
        set(
            study.batches.filter(pool__slug=slug, training_set=None).values_list(
                "test_set", "wanted"
            )
        )
        for slug in ("nurses", "students")
    )
    assert nurses == students
    assert len(nurses) == 6


def test_each_has_a_line_where_the_study_is_watched(client: Client) -> None:
    study, nurses, _ = started()
    make.worked_through(nurses)
    client.force_login(make.member(study))
    page = client.get(reverse("annotation:watch", args=[study.slug])).context["overview"]
    told = {who.partition(", ")[2]: cells[0][1] for who, cells in page["lines"]}
    assert told == {
        "Nurses": "1 of 5 finished, 0 at work",
        "Students": "0 of 5 finished, 0 at work",
    }


def test_one_pool_can_be_the_pilot_of_a_plan(admin_client: Client) -> None:
    study, nurses, _ = started()
    for wrong in (1, 2, 3):
        make.worked_through(nurses, wrong=wrong)
    for batch in study.batches.all():
        make.worked_through(batch, wrong=2)
    page = admin_client.get("/plan/").content.decode()
    chosen = f"{study.slug}/{nurses.task.slug}/3/Nurses"
    assert f'value="{chosen}">{study}: {nurses.task}, 3 shots (4 Nurses)' in page
    taken = admin_client.get("/plan/", {"pilot": chosen}, follow=True).content.decode()
    assert f"These values are from 4 annotators of the study {study}" in taken
    with pytest.raises(BadInput, match=r"3 shots \(Nurses\), .* 3 shots \(Students\)"):
        read_pilot(study)
