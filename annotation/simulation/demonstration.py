"""The demonstration: a benchmark of original sentences and two studies on it. One is open, to be
tried as an annotator; the other is finished, by simulated people alone and by the acts of any
study: it shows what one comes to."""

from datetime import datetime, timedelta
from pathlib import Path

from django.contrib.auth.models import User
from django.db import transaction

from annotation.access.rights import make_owner
from annotation.benchmarks.importing import import_benchmark
from annotation.jobs.pacing import ALONE
from annotation.models import Assignment, Benchmark, Exclusion, Study, clock
from annotation.payments import ledger
from annotation.simulation import demo
from annotation.simulation.simulating import simulate_study
from annotation.studies.lifecycle import close_study, start_study
from annotation.studies.people import exclude
from annotation.studies.study_file.applying import apply_study
from annotation.studies.study_file.reading import StudyFile, read_study_file
from annotation.work.commenting import add_comment

DEMO = Path(demo.__file__).parent
FILE, FINISHED = (
    read_study_file((DEMO / name).read_bytes()) for name in ("study.toml", "finished.toml")
)
SLUG, FINISHED_SLUG = (file.data["study"]["name"] for file in (FILE, FINISHED))
NAME = FILE.data["study"]["benchmark"]
BENCHMARK = DEMO / "benchmark"
# What a rule and real models answered; `make demonstration-runs` makes the models' anew.
SYSTEMS = ("word_overlap", "minilm", "smollm2_text", "smollm2_likelihood")
RUNS = [DEMO / f"{name}.jsonl" for name in SYSTEMS]
SKILL, WEAK, SEED = 0.92, 0.1, 2022
# Far enough back for the simulated work to have ended before anybody looks.
LEAD = timedelta(hours=6)
COMMENTS = (
    "In the last text I would have taken either answer.",
    "I did not see that the question had changed and guessed the first few.",
)
GUESSED = "They wrote that they had guessed: see their comment."


def import_demo(owner: User | None = None) -> Benchmark:
    import_benchmark(BENCHMARK, name=NAME, owner=owner)
    return Benchmark.objects.get(name=NAME)


def load_demonstration(*, at: datetime, owner: User | None = None) -> Study:
    """Set up and start the study that is open for people; changes nothing once it has started."""
    return _started(FILE, at - LEAD, owner, is_demonstration=False)


def load_finished(*, at: datetime, owner: User | None = None) -> Study:
    """Set up the finished study, let simulated people work in it, exclude one of them, pay some,
    and close it. Continues where it was interrupted, and changes nothing once it is closed."""
    study = _started(FINISHED, at - LEAD, owner, is_demonstration=True)
    if study.is_open:
        # Everybody; then whoever takes the place of the excluded one.
        for begins in (at - LEAD, at - LEAD / 2):
            simulate_study(study, skill=SKILL, weak=WEAK, seed=SEED, at=begins, pace=ALONE)
            if not Exclusion.objects.filter(assignment__study=study).exists():
                with clock.telling(at - LEAD / 2):
                    _exclude_one(study, at - LEAD / 2)
        with clock.telling(at):
            _pay_and_close(study, at)
    return study


def _started(file: StudyFile, at: datetime, owner: User | None, *, is_demonstration: bool) -> Study:
    slug = file.data["study"]["name"]
    study = Study.objects.filter(slug=slug).first()
    if study is None:
        with clock.telling(at):
            study = apply_study(file, is_demonstration=is_demonstration).study
            make_owner(study, owner)
    if not study.is_frozen:
        with clock.telling(at):
            start_study(study, at=at)
    return study


@transaction.atomic
def _exclude_one(study: Study, at: datetime) -> None:
    """Exclude one by a word of their own, as people are; another only reports a problem."""
    finished = Assignment.objects.completed().filter(study=study).order_by("pk")
    for assignment, text in zip(finished, COMMENTS, strict=False):
        add_comment(assignment, text=text, step=assignment.step - 1, at=at - LEAD / 6)
        last = assignment
    exclude(last, reason=GUESSED)


@transaction.atomic
def _pay_and_close(study: Study, at: datetime) -> None:
    """Half is approved and sent, a quarter approved and not sent, the rest waits."""
    due = [due.person.pk for due in ledger.dues(study)]
    half, quarter = len(due) // 2, len(due) // 4
    ledger.approve(study, due[:half], at=at)
    ledger.write_payout(study, digest=ledger.open_bonuses(study).digest, at=at)
    ledger.approve(study, due[half : half + quarter], at=at)
    close_study(study, at=at)
