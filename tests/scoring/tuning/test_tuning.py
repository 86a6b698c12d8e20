"""What is tuned, stored, taken up again and refused, with a stand-in for the model."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import pytest

from annotation.models import Benchmark, Kind
from annotation.models.errors import BadInput
from annotation.studies.lifecycle import start_study
from scoring.models import Run
from scoring.prompts.prompting import PromptSet, Subject
from scoring.runs.formats.plain_files import predictions_of
from scoring.runs.formats.records import RunFields
from scoring.runs.scores import scores_of_run
from scoring.tuning.settings import CLUES
from scoring.tuning.tuning import Plan, steps, tune
from tests import make
from tests.every import every
from tests.scoring.runs.runs_from import answers

pytestmark = pytest.mark.django_db


@dataclass
class OneLabel:
    """Answers the first label of the shots; without shots, or a label, it cannot."""

    name: str = "one label"
    machine: dict[str, str] = field(default_factory=dict)
    asked: list[PromptSet] = field(default_factory=list)
    validation: list[PromptSet] = field(default_factory=list)

    def kind_for(self, prompts: PromptSet) -> None:
        if prompts.kind != Kind.CHOICE:
            raise BadInput("it has no labels")
        if not prompts.training:
            raise BadInput("it has no shots")

    def tuner_for(self, prompts: PromptSet) -> "OneLabel":
        self.asked.append(prompts)
        return self

    def answer(
        self, *, validation: Sequence[PromptSet], progress: Callable[[int, int, float], None]
    ) -> Any:
        prompts = self.asked[-1]
        self.validation += validation
        progress(1, 1, 0.5)
        chosen = {"best_epoch": 2, "validation_loss": 0.25} if validation else {}
        return (
            {example.id: prompts.training[0].answer for example in prompts.test},
            {"steps": 1, "loss": 0.5, **chosen},
            ["one step"],
        )


@pytest.fixture
def mood() -> Benchmark:
    """A task with three shots in two splits, and one of spans."""
    benchmark = make.benchmark("toy")
    task = make.task(benchmark, slug="mood", tests=4)
    shots = [make.example(task, f"other {n}", role="training") for n in range(3)]
    make.item_set(task, shots, name="train-3-2", shots=3, split=2)
    make.task(benchmark, slug="names", kind=Kind.SPANS)
    return benchmark


def plan_for(benchmark: Benchmark, model: OneLabel, **options: Any) -> Plan:
    limit = options.pop("limit", None)
    chosen = {name: options.pop(name) for name in ("tasks", "splits", "study") if name in options}
    return Plan(
        subject=Subject(benchmark, **chosen),
        limit=limit,
        model=model,
        fields=RunFields(system="Small", method="FT", parameters="1.0M"),
        tuning={
            "settings": {"learning_rate": options.pop("learning_rate", 1e-3)},
            "format": "pairs",
            "limit": limit,
        },
        validation_split=options.pop("validation_split", None),
        source_name="some/folder",
        **options,
    )


def do(plan: Plan) -> list[Run]:
    todo = [step for step in steps(plan) if not step.left_out and step.run is None]
    return [tune(plan, step, progress=lambda *_: None)[0] for step in todo]


def test_stores_a_run_for_each_shot_set(mood: Benchmark) -> None:
    do(plan_for(mood, OneLabel(), tasks=["mood"]))
    runs = Run.objects.complete().order_by("split")
    assert [(run.system, run.method, run.shots, run.split) for run in runs] == [
        ("Small", "FT", 3, 1),
        ("Small", "FT", 3, 2),
    ]
    report = runs[0].report
    assert report["tuning"]["settings"] == {"learning_rate": 1e-3}
    assert report["tuned"]["steps"] == 1
    assert report["prompts"]["format"] == "pairs"
    assert len(report["prompts"]["shown"]) == 3
    assert "one step" in report["notes"]
    assert scores_of_run(runs[0])[0].mean is not None


def test_leaves_out_what_it_cannot_answer_and_says_why(mood: Benchmark) -> None:
    found = {
        (step.fields["task"], step.fields["shots"]): step.left_out
        for step in steps(plan_for(mood, OneLabel()))
    }
    assert found["mood", 3] == ""
    assert found["mood", 0] == "it has no shots"
    assert found["names", 3] == "it has no labels"


def test_goes_on_with_the_sets_that_have_no_run(mood: Benchmark) -> None:
    plan = plan_for(mood, first := OneLabel())
    step = next(step for step in steps(plan) if not step.left_out)
    tune(plan, step, progress=lambda *_: None)
    do(plan_for(mood, second := OneLabel()))
    assert [prompts.fields["split"] for prompts in (*first.asked, *second.asked)] == [1, 2]
    assert do(plan_for(mood, OneLabel())) == []
    assert Run.objects.complete().count() == 2


def test_stores_nothing_of_a_set_that_is_interrupted(mood: Benchmark) -> None:
    ways = OneLabel()
    plan = plan_for(mood, ways)
    step = next(step for step in steps(plan) if not step.left_out)

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        tune(plan, step, progress=stop)
    assert not Run.objects.exists()


def test_refuses_other_settings_under_the_same_name(mood: Benchmark) -> None:
    do(plan_for(mood, OneLabel()))
    with pytest.raises(BadInput, match=r"other settings \(learning_rate 0.001, now 0.1\)"):
        list(steps(plan_for(mood, OneLabel(), learning_rate=0.1)))


def test_another_seed_is_another_run_of_the_system_whatever_it_answers(mood: Benchmark) -> None:
    do(plan_for(mood, OneLabel(), splits=[1]))
    plan = plan_for(mood, OneLabel(), splits=[1])
    for seed in (1, 2, 1):
        fields = replace(plan.fields, repeat=seed)
        do(replace(plan, fields=fields, tuning={**plan.tuning, "seed": seed}))
    assert [run.repeat for run in Run.objects.complete()] == [None, 1, 2]


def test_a_part_of_the_test_is_a_partial_run_until_there_is_the_whole(mood: Benchmark) -> None:
    [part] = do(plan_for(mood, OneLabel(), limit=3, splits=[1]))
    assert part.coverage == 0.75
    assert "partial: 1 of 4 examples missing" in part.report["notes"]
    answered = answers(part)
    [whole] = do(plan_for(mood, OneLabel(), splits=[1]))
    assert whole.coverage == 1
    assert set(answered) < set(answers(whole))
    # The part would count twice.
    assert Run.objects.get() == whole
    found = steps(plan_for(mood, OneLabel(), limit=3, splits=[1]))
    assert [step.run for step in found if not step.left_out] == [whole]


class TestValidation:
    def test_keeps_the_split_out_and_records_it(self, mood: Benchmark) -> None:
        ways = OneLabel()
        [done] = do(plan_for(mood, ways, validation_split=2))
        assert done.split == 1
        assert done.system == "Small, validated on split 2"
        assert [held.fields["split"] for held in ways.validation] == [2]
        assert done.report["tuned"]["best_epoch"] == 2
        assert "epoch 2 chosen by the loss on split 2" in "".join(done.report["notes"])

    def test_says_so_where_there_is_no_such_split(self, mood: Benchmark) -> None:
        with pytest.raises(BadInput, match="no such sets"):
            do(plan_for(mood, OneLabel(), validation_split=5))


def test_shows_the_gold_of_shots_alone(mood: Benchmark) -> None:
    do(plan_for(mood, ways := OneLabel()))
    for prompts in ways.asked:
        assert every(shot.answer for shot in prompts.training)
        assert not any(example.answer for example in prompts.test)


def test_asks_a_study_what_its_people_were_asked(mood: Benchmark) -> None:
    batch = make.batch(make.study(mood), mood.tasks.get(slug="mood"))
    start_study(batch.study, at=make.NOON)
    mood.tasks.filter(slug="mood").update(description="Another one.")
    [done] = do(plan_for(mood, ways := OneLabel(), study=batch.study, tasks=["mood"]))
    assert ways.asked[0].description == make.DESCRIPTION
    assert done.report["prompts"]["study"] == batch.study.slug


def test_writes_predictions_that_can_be_imported(mood: Benchmark) -> None:
    [done] = do(plan_for(mood, OneLabel(), splits=[1]))
    lines = list(predictions_of(done))
    assert {line["id"]: line["prediction"] for line in lines} == answers(done)
    assert lines[0].items() >= {"system": "Small", "shots": 3, "split": 1, "task": "mood"}.items()


def test_knows_a_run_of_an_earlier_version(mood: Benchmark) -> None:
    """Its settings lack what came later, and count as that one's default."""
    plan = plan_for(mood, OneLabel(), tasks=["mood"])
    now = asdict(CLUES)
    earlier = {name: value for name, value in now.items() if name != "seed"}
    do(replace(plan, tuning={**plan.tuning, "settings": earlier}))
    found = list(steps(replace(plan, tuning={**plan.tuning, "settings": now})))
    assert every(step.run is not None for step in found if not step.left_out)
    other = {**plan.tuning, "settings": {**now, "seed": 1}}
    with pytest.raises(BadInput, match="seed 0, now 1"):
        list(steps(replace(plan, tuning=other)))
