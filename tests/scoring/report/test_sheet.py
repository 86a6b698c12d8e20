import pytest

from annotation.models import Batch, Channel, Exclusion, Study
from scoring.report.facts import gather
from scoring.report.sheet import NOBODY, Source, Topic, sheet
from tests import make
from tests.scoring.comparison import measured

pytestmark = pytest.mark.django_db


def topics_of(study: Study) -> dict[str, Topic]:
    found = sheet(gather(Study.objects.get(pk=study.pk)))
    return {f"{topic.group}: {topic.name}": topic for topic in found}


@pytest.fixture
def batch() -> Batch:
    made = measured.cell([3, 4, 5, 6, 7], tests=6)
    measured.run(made.task, wrong=2)
    return made


def test_answers_every_topic_from_data_or_leaves_it_to_the_researcher(batch: Batch) -> None:
    topics = topics_of(batch.study)
    assert len(topics) == len(sheet(gather(batch.study))) == 38
    for topic in topics.values():
        assert topic.question.endswith(("?", "."))
        assert topic.answer or topic.source == Source.RESEARCHER
        assert NOBODY not in topic.answer


def test_fills_in_the_figures_of_the_study(batch: Batch) -> None:
    Exclusion.objects.create(assignment=batch.assignments.first(), reason="too fast")
    topics = topics_of(batch.study)
    slug = batch.task.slug
    assert topics["Design: Number of people"].answer == "5 people took part; 4 assignments count."
    assert topics["Design: Answers of people"].answer == f"{slug} with 3 shots: 4."
    assert "Excluded afterwards: 1 of 5 completed assignments (20.0 %), for “too fast” (1)." in (
        topics["Execution: Quality checks"].answer
    )
    assert topics["Documentation: Time"].answer.startswith("A median of 10.0 s")
    assert "1 paired t test" in topics["Analysis: Tests"].answer
    assert "with the excluded" in topics["Analysis: Robustness"].answer
    assert "5 of 5 who gave consent (100.0 %)." in topics["Documentation: Completion"].answer
    assert "BERT-Base (FT)" in topics["The evaluation: Answers of systems"].answer


@pytest.mark.parametrize(
    "name",
    [
        "Design: Trial runs",
        "Design: Size",
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
    "name", ["Design: Ethics", "Design: Registration", "Recruitment: Sampling"]
)
def test_says_where_data_answer_in_part(batch: Batch, name: str) -> None:
    topic = topics_of(batch.study)[name]
    assert topic.source == Source.PART
    assert topic.answer


def test_tells_nothing_of_people_where_all_annotators_are_simulated(batch: Batch) -> None:
    Channel.objects.filter(annotators__assignments__batch=batch).update(is_simulated=True)
    topics = topics_of(batch.study)
    about_people = [topic for topic in topics.values() if topic.answer == NOBODY]
    assert len(about_people) == 11
    assert {topic.source for topic in about_people} == {Source.RESEARCHER}
    assert topics["The evaluation: Items"].source == Source.DATA


def test_tells_of_a_study_that_nobody_has_started() -> None:
    benchmark = make.benchmark()
    study = make.study(benchmark)
    make.batch(study, make.task(benchmark))
    topics = topics_of(study)
    assert topics["Design: Registration"].answer == "The study has not been started."
    assert topics["Recruitment: Pay"].answer == NOBODY
