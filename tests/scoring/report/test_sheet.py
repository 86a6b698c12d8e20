from copy import deepcopy

import pytest

from annotation.models import Batch, Channel, Exclusion, Study
from annotation.studies.cutting import cut_test_set
from scoring.report.facts import Facts
from scoring.report.methods import NOBODY, NONE_BEGUN, SIMULATED, Source, Topic, sheet
from tests import make
from tests.made_once import once_a_module
from tests.scoring.comparison import measured

pytestmark = pytest.mark.django_db


def topics_of(study: Study) -> dict[str, Topic]:
    topics = sheet(Facts(Study.objects.get(pk=study.pk)))
    return {f"{topic.group}: {topic.name}": topic for topic in topics}


def made_batch() -> Batch:
    made = measured.cell([3, 4, 5, 6, 7], tests=6)
    measured.run(made.task, wrong=2)
    make.closed(made.study)
    return made


batch_once = once_a_module(made_batch)


@pytest.fixture
def batch(batch_once: Batch) -> Batch:
    return deepcopy(batch_once)


def test_answers_every_topic_from_data_or_leaves_it_to_the_researcher(batch: Batch) -> None:
    topics = topics_of(batch.study)
    assert len(topics) == len(sheet(Facts(batch.study))) == 38
    for topic in topics.values():
        assert topic.question.endswith(("?", "."))
        assert topic.answer or topic.source == Source.RESEARCHER
        assert NOBODY not in topic.answer


def test_fills_in_the_figures_of_the_study(batch: Batch) -> None:
    Exclusion.objects.create(assignment=batch.assignments.first(), reason="too fast")
    topics = topics_of(batch.study)
    assert topics["Design: Number of people"].answer == (
        "The baseline rests on 4 assignments by 4 people; 5 people took part in all, as "
        "far as a browser's cookie tells."
    )
    assert topics["Design: Answers of people"].answer == "4, without excluded work."
    assert "Excluded: 1 of 5 completed assignments (20.0 %), for “too fast”." in (
        topics["Execution: Quality checks"].answer
    )
    assert topics["Documentation: Time"].answer.startswith("A median of 10.0 s")
    assert topics["Analysis: Tests"].answer.endswith("The verdicts are in the methods section.")
    assert "The exclusions moved the mean of" in topics["Analysis: Robustness"].answer
    assert (
        "0 of the 5 who consented and began (0.0 %)." in topics["Documentation: Completion"].answer
    )
    assert "BERT-Base FT (1 run)" in topics["The evaluation: Answers of systems"].answer


@pytest.mark.parametrize(
    "name",
    [
        "Design: Trial runs",
        "Recruitment: Population",
        "Recruitment: Own team",
        "Execution: Tools",
        "Documentation: Demographics",
        "Documentation: Availability of code",
    ],
)
def test_leaves_to_the_researcher_what_no_row_can_tell(batch: Batch, name: str) -> None:
    assert topics_of(batch.study)[name].source == Source.RESEARCHER


@pytest.mark.parametrize(
    "name", ["Design: Size", "Design: Ethics", "Design: Registration", "Recruitment: Sampling"]
)
def test_says_where_data_answer_in_part(batch: Batch, name: str) -> None:
    topic = topics_of(batch.study)[name]
    assert topic.source == Source.PART
    assert topic.answer


def test_says_how_a_sample_was_drawn() -> None:
    study, topic = make.study(make.benchmark()), "Design: Choice of items"
    batch = make.batch(study, make.task(study.benchmark, tests=6))
    assert "drew no sample" in topics_of(study)[topic].answer
    Batch.objects.filter(pk=batch.pk).update(test_set=cut_test_set(batch.test_set, 4, seed=7))
    assert topics_of(study)[topic].answer == (
        f"By the study at random: 4 of 6 items of {batch.task.slug} (seed 7)."
    )


def test_marks_what_is_told_of_simulated_annotators(batch: Batch) -> None:
    Channel.objects.filter(annotators__assignments__batch=batch).update(is_simulated=True)
    topics, mark = topics_of(batch.study), SIMULATED.format("Rehearsal")
    marked = [topic for topic in topics.values() if topic.answer.startswith(mark)]
    assert len(marked) == 12
    assert not any(topic.answer in (NOBODY, NONE_BEGUN) for topic in topics.values())
    assert topics["The evaluation: Items"].source == Source.DATA


def test_tells_of_a_study_that_nobody_has_started() -> None:
    benchmark = make.benchmark()
    study = make.study(benchmark)
    make.batch(study, make.task(benchmark))
    topics = topics_of(study)
    assert topics["Design: Registration"].answer == "The study has not been started."
    assert topics["Design: Number of people"].answer == NOBODY
    assert topics["Recruitment: Sampling"].answer == NONE_BEGUN
