"""Clusters of items that the owner of a study declares: one document, story or template."""

import json

import numpy as np
import pytest
from django.contrib.auth.models import User
from django.db import DatabaseError, transaction
from django.test import Client
from django.urls import reverse

from annotation.models import Batch, Example, Study
from annotation.models.errors import NotReady
from annotation.studies.lifecycle import start_study, what_is_missing
from annotation.studies.settings_form import StudyForm
from annotation.studies.study_file.applying import apply_study
from annotation.studies.study_file.reading import read_study_file
from annotation.studies.study_file.writing import study_as_toml
from scoring.bundle.figures import NUMBERS, rebuilt
from scoring.cells.cells import CellReader
from scoring.cells.scope import Choices, Scope
from scoring.comparison.comparing import compare
from scoring.core.comparison import paired_difference
from scoring.core.intervals import cell_interval, cluster_scores
from scoring.report.preregistration import as_markdown
from tests import make
from tests.scoring.bundle.packed import packed, rows
from tests.scoring.comparison import measured

DOCUMENTS = ("a", "a", "a", "b", "b", "c", "c", "")


def in_documents(batch: Batch, documents: tuple[str, ...] = DOCUMENTS) -> None:
    """Each test item gets the document that it is from; without a name it has none."""
    examples = [item.example for item in batch.test_set.items.select_related("example")]
    for example, document in zip(examples, documents, strict=True):
        example.groups = {"document": document} if document else {}
    with make.unlocked():
        Example.objects.bulk_update(examples, ["groups"])


@pytest.fixture
def batch() -> Batch:
    """A draft over eight items of three documents and one of none."""
    bench = make.benchmark()
    made = make.batch(make.study(bench), make.task(bench, tests=8), wanted=5)
    in_documents(made)
    return made


def declared(batch: Batch, group: str = "document") -> Study:
    study = batch.study
    study.clusters = {batch.task.slug: group}
    study.save()
    return study


@pytest.mark.django_db
def test_counts_items_of_a_declared_cluster_once_in_intervals_and_tests(batch: Batch) -> None:
    study = declared(batch)
    start_study(study, at=make.NOON)
    batch.refresh_from_db()
    for wrong in (3, 4, 5, 6, 8):
        make.worked_through(batch, wrong=wrong)
    measured.run(batch.task, wrong=2)
    make.closed(study)
    [cell] = CellReader(Choices()).people(study)
    labels = np.array([f"document: {name}" if name else "alone" for name in DOCUMENTS])
    expected = cell_interval(cluster_scores(cell.scores, labels))
    table = compare(Scope(study.benchmark, study), Choices())
    [people] = [row for row in table.rows if row.system == "Human" and not row.single]
    assert (people.m, people.n) == (4, 5)
    limits = 100 * expected.low, 100 * expected.high
    assert (people.ci_low, people.ci_high) == pytest.approx(limits)
    system = [[0.0, 0.0, *[1.0] * 6]]
    test = paired_difference(cell.scores, system, clusters=labels)
    [found] = table.tests
    assert (found.m, found.p) == (4, pytest.approx(test.p))


@pytest.mark.django_db
def test_comes_to_the_same_figures_from_a_bundle(batch: Batch) -> None:
    study = declared(batch)
    start_study(study, at=make.NOON)
    batch.refresh_from_db()
    for wrong in (3, 4, 5):
        make.worked_through(batch, wrong=wrong)
    make.closed(study)
    files = packed(study)
    by_hand = list(rebuilt(lambda name: iter(rows(files, name))))
    assert [row["m"] for row in by_hand] == [4] * len(by_hand)
    for row, told in zip(by_hand, rows(files, "figures.jsonl"), strict=True):
        assert [row[name] for name in NUMBERS] == pytest.approx([told[name] for name in NUMBERS])


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("group", "sentence"),
    [
        ("story", "has the group “story”; groups there are: document."),
        ("document", ""),
    ],
)
def test_refuses_a_group_that_no_item_has(batch: Batch, group: str, sentence: str) -> None:
    missing = " ".join(what_is_missing(declared(batch, group)))
    assert sentence in missing if sentence else not missing


@pytest.mark.django_db
def test_refuses_a_declaration_that_takes_one_text_apart(batch: Batch) -> None:
    first, second = [item.example for item in batch.test_set.items.all()[2:4]]
    Example.objects.filter(pk=second.pk).update(context_hash=first.context_hash)
    with pytest.raises(NotReady, match=r"test 2 and test 3 .* share their text, but not their"):
        start_study(declared(batch), at=make.NOON)


@pytest.mark.django_db
def test_refuses_a_task_that_the_study_does_not_ask(batch: Batch) -> None:
    batch.study.clusters = {"other": "document"}
    assert "Clusters are declared for other" in " ".join(what_is_missing(batch.study))


@pytest.mark.django_db
def test_stands_in_the_file_of_a_study_and_comes_back_from_it(batch: Batch) -> None:
    study = declared(batch)
    text = study_as_toml(study)
    assert f'[study.clusters]\n{batch.task.slug} = "document"' in text
    assert apply_study(read_study_file(text.encode())).diff == ""


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("typed", "stored"),
    [("ner: document", {"ner": "document"}), ("", {}), ("a : b\nc:d", {"a": "b", "c": "d"})],
)
def test_is_typed_a_line_a_task(batch: Batch, typed: str, stored: dict[str, str]) -> None:
    field = StudyForm.base_fields["clusters"]
    assert field.clean(typed) == stored
    assert field.prepare_value(stored) == "\n".join(f"{a}: {b}" for a, b in stored.items())
    assert not field.has_changed(stored, typed)
    assert field.has_changed({"x": "y"}, typed)


@pytest.mark.django_db
def test_asks_for_the_group_where_a_line_names_none(batch: Batch) -> None:
    user = User.objects.create_superuser("user")
    form = StudyForm({"clusters": batch.task.slug}, instance=batch.study, user=user)
    sentence = "A group is missing: write a line a task, such as “ner: document”."
    assert form.errors["clusters"] == [sentence]


@pytest.mark.django_db
def test_is_said_before_the_start_and_in_the_pre_registration(
    batch: Batch, admin_client: Client
) -> None:
    study = declared(batch)
    page = admin_client.get(reverse("annotation:start", args=[study.slug]))
    assert f"{batch.task.slug} by document: items of one cluster count as one" in (
        page.content.decode()
    )
    assert "8 test items in 4 clusters by “document”" in as_markdown(study)


@pytest.mark.django_db
def test_is_frozen_by_the_start_in_the_database(batch: Batch) -> None:
    study = declared(batch)
    start_study(study, at=make.NOON)
    assert json.loads(json.dumps(study.frozen["rules"]["clusters"])) == study.clusters
    with pytest.raises(DatabaseError, match="What a started study holds"), transaction.atomic():
        Study.objects.filter(pk=study.pk).update(clusters={})
