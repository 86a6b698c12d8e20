"""Each number that the sentences say, recomputed from the rows and the tests."""

from dataclasses import replace

import pytest
from django.test import Client

from annotation.models import Batch, Study
from annotation.studies.lifecycle import close_study
from scoring.cells.rows import Row, RowKind
from scoring.cells.scope import Scope
from scoring.comparison.comparing import Comparison, compare
from scoring.comparison.documents import SIGNS, overview
from scoring.comparison.sentences import summaries
from scoring.core.verdicts import AHEAD, BEHIND, EXPLORATORY, SAME, UNDECIDED
from scoring.tests.differences import Difference
from scoring.tests.verdicts import averages
from tests import make
from tests.scoring.comparison import measured

OUTCOMES = (AHEAD, BEHIND, SAME, UNDECIDED, EXPLORATORY)
HUMAN = Row(RowKind.HUMAN, study="pilot", system="Human", task="sst2", shots=30, mean=91.24, sd=1.0,
            n=5,
            m=60, ci_low=88.01, ci_high=93.88, references="any", coverage=1.0)  # fmt: skip
RUN = Row(RowKind.RUN, system="BERT", method="FT", task="sst2", shots=30, mean=85.9, sd=2.0, n=5,
          references="any", coverage=1.0)  # fmt: skip
VERDICT = Difference(
    study="pilot", simulated=False, shots=30, system="BERT", method="FT", parameters="",
    outcome="ahead", direction="ahead", margin=2.0, difference=5.34, low=1.14, high=9.54,
    p_direction=0.01, p_holm=0.02, family=2, task="sst2", above=5, n=5,
)  # fmt: skip


def table(*verdicts: Difference, people: Row = HUMAN) -> Comparison:
    systems = [
        replace(RUN, task=verdict.task or "", system=verdict.system)
        for verdict in verdicts
        if not verdict.is_reported
    ]
    tasks = dict.fromkeys(verdict.task for verdict in verdicts)
    rows = [replace(people, task=task or "") for task in tasks] + systems
    return Comparison(tuple(rows), tests=verdicts, benchmark="clues", study="pilot")


def test_says_how_far_a_system_is_behind() -> None:
    [summary] = summaries(table(VERDICT), "30")
    [sentence] = summary["tasks"]
    assert (sentence["mean"], sentence["interval"], sentence["n"]) == ("91.2", "[88.0, 93.9]", 5)
    [behind] = sentence["behind"]["named"]
    assert (behind["name"], behind["points"], behind["interval"]) == (
        "BERT FT",
        "5.3",
        "[1.1, 9.5]",
    )
    assert not sentence["ahead"]
    assert not sentence["systems"]


def test_says_how_far_a_system_is_ahead_without_a_sign() -> None:
    ahead = replace(VERDICT, outcome="behind", difference=-5.34, low=-9.54, high=-1.14)
    [sentence] = summaries(table(ahead), "30")[0]["tasks"]
    [system] = sentence["ahead"]["named"]
    assert (system["points"], system["interval"]) == ("5.3", "[1.1, 9.5]")


def test_gives_an_undecided_difference_with_its_sign_and_what_would_be_found() -> None:
    undecided = replace(VERDICT, outcome="undecided", difference=-1.2, low=-5, high=2.6,
                        detectable=6.42)  # fmt: skip
    [sentence] = summaries(table(undecided), "30")[0]["tasks"]
    [system] = sentence["undecided"]["named"]
    assert (system["points"], system["detectable"]) == ("−1.2 [−5.0, 2.6]", "6.4")


def test_names_the_nearest_systems_and_counts_the_others() -> None:
    those = [replace(VERDICT, system=f"S{n}", difference=10.0 - n) for n in range(5)]
    [sentence] = summaries(table(*those), "30")[0]["tasks"]
    assert [system["name"] for system in sentence["behind"]["named"]] == ["S4 FT", "S3 FT", "S2 FT"]
    assert sentence["behind"]["further"] == 2


def test_counts_every_comparison_once_over_tasks() -> None:
    those = [replace(VERDICT, task=task, outcome=outcome) for task in "ab" for outcome in OUTCOMES]
    [summary] = summaries(table(*those), "30")
    assert summary["counts"] == dict.fromkeys(OUTCOMES, 2)
    assert summary["compared"] == 10


def test_tests_no_published_figure() -> None:
    published = replace(VERDICT, outcome="untested", low=None, high=None, is_reported=True)
    [summary] = summaries(table(published), "30")
    [sentence] = summary["tasks"]
    assert [system["points"] for system in sentence["published"]["named"]] == ["+5.3"]
    assert summary["compared"] == 0


def test_names_few_people_exploratory() -> None:
    [sentence] = summaries(table(replace(VERDICT, outcome="exploratory"),
                                 people=replace(HUMAN, n=3)), "30")[0]["tasks"]  # fmt: skip
    assert sentence["is_exploratory"]
    assert [system["name"] for system in sentence["exploratory"]["named"]] == ["BERT FT"]


@pytest.mark.parametrize("outcome", OUTCOMES)
def test_the_table_marks_what_the_sentence_says(outcome: str) -> None:
    verdict = replace(VERDICT, outcome=outcome)
    shown = overview(table(verdict), "30")
    system = shown.lines[1].cell(shown.columns[-1])
    assert system.sign == SIGNS[verdict.outcome]
    assert list(shown.notes) == [system.sign]


def test_the_average_is_marked_beside_real_people_like_its_cells() -> None:
    simulated = replace(VERDICT, study="other", simulated=True, outcome="behind")
    both = table(*(replace(one, task=task) for task in "ab" for one in (simulated, VERDICT)))
    over = tuple(replace(one, task=None, n=None) for one in (simulated, VERDICT))
    rows = [row for row in both.rows if row.kind == RowKind.RUN]
    found = replace(both, average_tests=over, averages=tuple(averages(rows, ["a", "b"])))
    shown = overview(found, "30")
    line = shown.lines[1]
    assert {line.cell(column).sign for column in shown.columns[1:]} == {SIGNS[AHEAD]}


def study(people: int) -> Batch:
    batch = make.running_batch(wanted=people, tests=60, training=3)
    for number in range(people):
        make.worked_through(batch, wrong=3 + number % 2)
    measured.run(batch.task, wrong=40)
    return batch


def kept(study: Study) -> Comparison:
    return compare(Scope(study.benchmark, study))


@pytest.mark.django_db
def test_is_true_of_the_rows_below(admin_client: Client) -> None:
    batch = study(5)
    found = kept(batch.study)
    people, system = (next(r for r in found.rows if r.kind == kind) for kind in ("human", "run"))
    assert people.mean is not None
    assert system.mean is not None
    text = admin_client.get(f"/studies/{batch.study.slug}/comparison/").content.decode()
    interval = f"[{people.ci_low:.1f}, {people.ci_high:.1f}]"
    assert f"At 3 shots 5 people reach {people.mean:.1f} {interval}." in text
    assert f"<b>BERT-Base FT</b> by {people.mean - system.mean:.1f} " in text
    assert f'{system.mean:.1f} <span class="sign">▼</span>' in text


@pytest.mark.django_db
@pytest.mark.parametrize("people", [3, 5])
def test_whoever_may_not_see_the_gold_is_told_no_difference(client: Client, people: int) -> None:
    batch = study(people)
    close_study(batch.study, at=make.NOON)
    client.force_login(make.member(batch.study, "viewer"))
    text = client.get(f"/studies/{batch.study.slug}/comparison/").content.decode()
    assert "<b>BERT-Base FT</b> 33.3." in text
    for told in (*"▲▼≈?", "people less system", "p, Holm", "Behind them", "Exploratory;"):
        assert f"{told}<" not in text
        assert f"> {told}" not in text
        assert f"<dt>{told}" not in text


def test_leaves_out_a_method_that_says_nothing() -> None:
    [sentence] = summaries(table(replace(VERDICT, method="other")), "30")[0]["tasks"]
    assert [system["name"] for system in sentence["behind"]["named"]] == ["BERT"]
