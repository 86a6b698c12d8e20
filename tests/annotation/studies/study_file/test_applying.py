"""A study's file makes a draft, changes it, and says what is stored."""

from datetime import date
from decimal import Decimal

import pytest
from django.contrib.auth.models import User

from annotation.models import (
    Batch,
    Benchmark,
    ChangeAction,
    LabDefaults,
    OutcomeRule,
    Pool,
    Study,
    Task,
)
from annotation.models.errors import Frozen, Refusal
from annotation.studies.lifecycle import start_study
from annotation.studies.rules import names_once
from annotation.studies.study_file.applying import Applied, apply_study
from annotation.studies.study_file.batch_tables import BatchReader
from annotation.studies.study_file.reading import StudyFile, read_study_file
from annotation.studies.study_file.writing import as_toml, content_of, document
from tests import make
from tests.batching import make_batches

pytestmark = pytest.mark.django_db

WHOLE = """\
[study]
name = "nurses"
title = "Nurses and students"
benchmark = "mood"
channel = "prolific"
contact = "ann@example.org"
ending = \"\"\"Thank you from all of us.

[de]
Wir alle danken.\"\"\"
question = "Do nurses do better?"
ends = 2027-01-31
close_when_full = true
joins_an_hour = 40
shuffle_by = "item"
shuffle_options = true
has_decoy = true
seed = 7
consent = \"\"\"We store your answers.

- No names.\"\"\"

[study.consents]
de = "Wir speichern Ihre Antworten."

[pay]
hourly_rate = 12.5
currency = "GBP"
platform_fee = 33.3
expected_seconds = 9.5
item_cap_s = 90
reading_cap_s = 200
reveal_cap_s = 30
idle_after_s = 20
lease_minutes = 45
expire_hours = 12

[screening]
min_training_score = 40.0
max_drop = 1.5
drop_unit = "sds"
drop_group_size = 6
min_check_score = 70.0
screening_reason = "Whoever comes is welcome."
unanswerable_reason = "It is the published set."

[comparison]
systems = ["BERT-Base FT", "T5"]
margin = 2.0
margin_reason = "So little does not matter."

[[pools]]
name = "nurses"
title = "Nurses"
about = "Of one hospital."
min_check_score = 80.0

[[pools]]
name = "students"
title = "Students"

[[batches]]
tasks = ["mood"]
shots = [0]
pool = "nurses"
people = 4
checks = "topic/train-10-1"

[[batches]]
tasks = ["mood"]
shots = [0]
pool = "students"
people = 2
items_a_person = 3
sample_seed = 9

[[batches]]
tasks = ["mood", "topic"]
shots = [10]
splits = [1]
pool = "nurses"
people = 3

[outcomes.completed]
code = "DONE"
pays_time = true
minimum = 1.0
platform_pays = 3.5

[outcomes.screened_out]
code = "OUT"
pays_time = true
minimum = 0.0
platform_pays = 0.5

[outcomes.withdrawn]
code = "LEFT"
pays_time = false
minimum = 0.25

[outcomes.expired]
code = "LATE"
pays_time = true
minimum = 0.0

[outcomes.displaced]
code = "GONE"
pays_time = true
minimum = 0.0

[outcomes.declined]
code = "NO"
pays_time = false
minimum = 0.0

[outcomes.full]
code = "FULL"
pays_time = false
minimum = 0.5
"""
# Without checks, which hold the same texts as what is trained with here.
STARTS = WHOLE.replace('checks = "topic/train-10-1"\n', "").replace("min_check_score = 80.0\n", "")
LEAST = """\
[study]
name = "least"
title = "As little as there can be"
benchmark = "mood"

[[batches]]
tasks = ["mood"]
shots = [0, 10]
"""


@pytest.fixture
def mood() -> Benchmark:
    for via in ("prolific", "link"):
        make.channel(via)
    benchmark = make.benchmark("mood")
    for slug in ("mood", "topic"):
        make.task(benchmark, slug=slug, training=10, tests=8)
    return benchmark


def apply(text: str, **how: object) -> Applied:
    return apply_study(read_study_file(text.encode()), **how)  # type: ignore[arg-type]


def made(text: str, by: User | None = None) -> Study:
    study = apply(text, by=by).study
    study.refresh_from_db()
    return study


def written(study: Study, *, codes: bool = True) -> str:
    return as_toml(document(content_of(study), codes=codes))


@pytest.mark.both_databases
def test_makes_the_draft_that_a_file_says_and_writes_the_same_file(mood: Benchmark) -> None:
    study = made(WHOLE)
    assert (study.title, study.state, study.benchmark) == ("Nurses and students", "draft", mood)
    assert (study.hourly_rate, study.ends_on) == (Decimal("12.5"), date(2027, 1, 31))
    assert study.consent_text.endswith("- No names.\n\n[de]\nWir speichern Ihre Antworten.")
    assert study.outcome_rules.get(outcome="completed").platform_pays == Decimal("3.5")
    wanted = {(str(one), one.wanted) for one in study.batches.all()}
    assert len(wanted) == 4
    assert study.batches.get(pool__slug="students").test_set.items.count() == 3
    assert study.batches.get(check_set__isnull=False).check_set == Task.objects.get(
        slug="topic"
    ).item_sets.get(name="train-10-1")
    assert written(study) == WHOLE


@pytest.mark.both_databases
def test_changes_nothing_when_it_is_applied_again(mood: Benchmark) -> None:
    study = made(WHOLE)
    rows = (Study, Pool, Batch, OutcomeRule)
    before = [list(model.objects.order_by("pk").values()) for model in rows]
    again = apply(written(study))
    assert (again.diff, again.is_new) == ("", False)
    assert [list(model.objects.order_by("pk").values()) for model in rows] == before
    assert not study.changes.filter(action=ChangeAction.SETTINGS).exists()


def test_leaves_what_is_not_said_as_usual(mood: Benchmark) -> None:
    study = made(LEAST)
    assert (study.channel.slug, study.hourly_rate, study.ends_on) == ("link", 12, None)
    assert [batch.wanted for batch in study.batches.all()] == [3, 3]
    assert study.outcome_rules.count() == 7
    assert len(set(study.outcome_rules.values_list("code", flat=True))) == 7
    assert apply(LEAST).diff == ""
    again = made(LEAST)
    assert (again.seed, written(again)) == (study.seed, written(study))


@pytest.mark.both_databases
def test_changes_a_draft_until_it_is_what_the_file_says(mood: Benchmark) -> None:
    study = made(WHOLE)
    links = dict(study.batches.values_list("pk", "join_token"))
    changed = (
        WHOLE.replace("hourly_rate = 12.5", "hourly_rate = 15.0")
        .replace("people = 4", "people = 6")
        .replace('title = "Nurses"', 'title = "Others"')
        .replace('title = "Students"', 'title = "Nurses"')
        .replace('title = "Others"', 'title = "Students"')
        .replace('code = "DONE"', 'code = "Others"')
        .replace('code = "OUT"', 'code = "DONE"')
        .replace('code = "Others"', 'code = "OUT"')
        .replace('tasks = ["mood", "topic"]', 'tasks = ["mood"]')
    )
    applied = apply(changed)
    assert written(study) != WHOLE
    study.refresh_from_db()
    assert written(study) == changed
    kept = study.batches.filter(pk__in=links)
    assert dict(kept.values_list("pk", "join_token")).items() <= links.items()
    assert study.batches.count() == len(links) - 1
    for line in ("-hourly_rate = 12.5", "+hourly_rate = 15.0", "-people = 4", "+people = 6"):
        assert line in applied.diff.splitlines()
    logged = set(study.changes.values_list("action", flat=True))
    assert {ChangeAction.SETTINGS, ChangeAction.BATCHES, ChangeAction.OUTCOMES} <= logged
    settings = study.changes.get(action=ChangeAction.SETTINGS)
    assert (settings.before, settings.after) == ({"hourly_rate": "12.50"}, {"hourly_rate": "15.0"})


def test_takes_out_what_the_file_no_longer_says(mood: Benchmark) -> None:
    made(WHOLE)
    least = LEAST.replace('"least"', '"nurses"')
    study = made(least)
    assert (study.max_drop, study.question, study.named_systems) == (None, "", [])
    assert not study.pools.exists()
    assert study.batches.count() == 2
    assert study.seed == 7
    # Codes that are not named stay as they are.
    assert study.outcome_rules.get(outcome="completed").code == "DONE"
    assert study.outcome_rules.get(outcome="completed").platform_pays is None


def test_stores_nothing_in_a_dry_run(mood: Benchmark) -> None:
    dry = apply(LEAST, dry_run=True)
    assert '+title = "As little as there can be"' in dry.diff.splitlines()
    assert not Study.objects.exists()
    study = made(LEAST)
    sets = set(mood.tasks.values_list("item_sets", flat=True))
    changed = LEAST.replace("shots = [0, 10]", "shots = [0]\nitems_a_person = 2")
    assert "+items_a_person = 2" in apply(changed, dry_run=True).diff.splitlines()
    assert study.batches.count() == 2
    assert set(mood.tasks.values_list("item_sets", flat=True)) == sets


@pytest.mark.both_databases
def test_refuses_what_a_started_study_may_not_become(mood: Benchmark) -> None:
    study = made(STARTS)
    start_study(study, at=make.NOON)
    assert apply(STARTS).diff == ""
    changed = STARTS.replace("12.5", "15.0").replace("people = 4", "people = 5")
    with pytest.raises(Frozen) as refusal:
        apply(changed)
    assert str(refusal.value) == (
        "study.toml differs from the study nurses, which has started and is frozen, in line 27, "
        "pay.hourly_rate; line 61, batches. Take these from an export of it, or copy the study."
    )
    study.refresh_from_db()
    assert study.hourly_rate == Decimal("12.5")


def test_changes_what_a_started_study_leaves_open(mood: Benchmark) -> None:
    study = made(STARTS)
    start_study(study, at=make.NOON)
    changed = made(STARTS.replace("ann@example.org", "bo@example.org"))
    assert (changed.contact, changed.is_open) == ("bo@example.org", True)


def test_says_everything_of_a_study_that_was_made_on_pages(mood: Benchmark) -> None:
    study = make.study(mood, consent_text="One.\r\n\r\nTwo.", margin=0)
    make_batches(study, tasks=mood.tasks.all(), shots=[0, 10], wanted=5)
    text = written(study)
    assert 'consent = """One.\n\nTwo."""' in text
    assert apply(text).diff == ""
    study.refresh_from_db()
    assert study.consent_text == "One.\r\n\r\nTwo."
    copy = made(text.replace(study.slug, "copy"))
    assert written(copy) == text.replace(study.slug, "copy")


def test_leaves_out_the_codes_for_whoever_may_not_have_them(mood: Benchmark) -> None:
    text = written(made(WHOLE), codes=False)
    assert "DONE" not in text
    assert apply(text).diff == ""
    assert OutcomeRule.objects.filter(code="DONE").exists()


def test_gives_what_it_makes_to_whoever_makes_it(mood: Benchmark) -> None:
    anna = make.member(mood)
    study = made(LEAST, by=anna)
    assert study.memberships.get().user == anna
    assert made(LEAST.replace("little", "much"), by=anna).title == "As much as there can be"


@pytest.mark.parametrize("role", ["viewer", None])
def test_lets_nobody_change_a_study_without_the_right(mood: Benchmark, role: str | None) -> None:
    study = made(LEAST)
    bo = make.member(mood)
    if role:
        study.memberships.create(user=bo, role=role)
    with pytest.raises(Refusal, match=r"^study.toml, line 2, study.name: There is a study “least”"):
        apply(LEAST.replace("little", "much"), by=bo)


def test_offers_nobody_the_benchmark_of_somebody_else(mood: Benchmark) -> None:
    with pytest.raises(Refusal, match=r"^study.toml, line 4, study.benchmark: There is no ben"):
        apply(LEAST, by=make.researcher())


def test_makes_only_new_studies_where_that_is_asked(mood: Benchmark) -> None:
    made(LEAST)
    with pytest.raises(Refusal, match="choose another name"):
        apply(LEAST, only_new=True)


def test_takes_the_same_as_json(mood: Benchmark) -> None:
    tables = document(content_of(made(WHOLE)))
    tables["study"]["ends"] = "2027-01-31"
    assert apply_study(StudyFile(tables)).diff == ""


@pytest.mark.parametrize(
    "text",
    [
        "a\\b \\n \\u0041",
        'three """ quotes\nand \'\'\' these, at the end "',
        "bell \x07, delete \x7f, \u2028 and \u202e",
        "a tab\t\nand = [pay]\n[pay]\nhourly_rate = 1",
        "one\n[de]\nzwei\n[de]\ndrei",
        "[de]\nnur dies",
        "#\n\n\n  far\n   \nin",
        "\\\n   next",
        "😀 \N{COMBINING ACUTE ACCENT}",
    ],
)
def test_gives_every_text_back_as_it_was(mood: Benchmark, text: str) -> None:
    title = text.replace("\n", " ")
    study = make.study(mood, consent_text=text, title=title, margin=0)
    Study.objects.filter(pk=study.pk).update(named_systems=names_once([title]))
    study.refresh_from_db()
    written_first = written(study)
    assert apply(written_first).diff == ""
    copy = made(written_first.replace(study.slug, "copy"))
    assert (copy.consent_text, copy.title) == (text, title)
    assert written(copy) == written_first.replace(study.slug, "copy")


def test_changes_no_study_that_is_started_meanwhile(
    mood: Benchmark, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = made(STARTS)
    read = BatchReader.batches

    def slowly(reader: BatchReader) -> list[Batch]:
        start_study(study, at=make.NOON)
        return read(reader)

    monkeypatch.setattr(BatchReader, "batches", slowly)
    with pytest.raises(Frozen):
        apply(STARTS.replace("12.5", "15.0"))
    study.refresh_from_db()
    assert study.hourly_rate == Decimal("12.5")


def test_says_that_a_name_was_taken_meanwhile(
    mood: Benchmark, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = BatchReader.batches

    def slowly(reader: BatchReader) -> list[Batch]:
        make.study(mood, slug="least")
        return read(reader)

    monkeypatch.setattr(BatchReader, "batches", slowly)
    with pytest.raises(Refusal, match="There is a study “least” already: choose another name"):
        apply(LEAST)


KEPT = {
    **{"contact": "lab@example.org", "consent_text": "We keep nothing.", "hourly_rate": 15},
    **{"currency": "GBP", "platform_fee": Decimal("33.3"), "min_training_score": 40.0},
}


def of_lab(study: Study) -> dict[str, object]:
    return {name: getattr(study, name) for name in KEPT}


def test_begins_with_the_defaults_of_its_owner_and_keeps_them(mood: Benchmark) -> None:
    owner, colleague = make.member(mood), make.member(mood)
    LabDefaults.objects.create(user=owner, **KEPT)
    study = made(LEAST, by=owner)
    assert of_lab(study) == KEPT
    study.memberships.create(user=colleague, role="editor")
    for by in (owner, colleague, None):
        assert not apply(LEAST, by=by).diff


def test_says_otherwise_than_the_defaults_of_its_owner(mood: Benchmark) -> None:
    owner = make.member(mood)
    LabDefaults.objects.create(user=owner, **KEPT)
    said = "[pay]\nhourly_rate = 9.0\n[[batches]]"
    study = made(LEAST.replace("[[batches]]", said), by=owner)
    assert of_lab(study) == {**KEPT, "hourly_rate": 9}
    study.min_training_score, study.contact = None, ""
    study.save()
    assert not apply(as_toml(document(content_of(study))), by=owner).diff


def test_takes_no_defaults_of_anybody_else(mood: Benchmark) -> None:
    LabDefaults.objects.create(user=make.member(mood), **KEPT)
    assert of_lab(made(LEAST)) == of_lab(Study())
