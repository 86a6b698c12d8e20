"""The demonstration: a benchmark of original sentences, a running study on it, and
simulated annotators who have filled its table. Its places are open for people."""

from datetime import datetime, timedelta
from pathlib import Path

from django.contrib.auth.models import User

from annotation.access.rights import make_owner
from annotation.benchmarks.importing import import_benchmark
from annotation.jobs.queue import ALONE
from annotation.models import Study
from annotation.simulation import demo
from annotation.simulation.simulating import simulate_study
from annotation.studies.lifecycle import start_study
from annotation.studies.study_file.applying import apply_study
from annotation.studies.study_file.reading import read_study_file

FILE = read_study_file((Path(demo.__file__).parent / "study.toml").read_bytes())
SLUG, NAME, SEED = (FILE.data["study"][key] for key in ("name", "benchmark", "seed"))
BENCHMARK = Path(demo.__file__).parent / "benchmark"
# What a rule and real models answered; `make demonstration-runs` makes the models' anew.
SYSTEMS = ("word_overlap", "minilm", "smollm2_text", "smollm2_likelihood")
RUNS = [Path(demo.__file__).parent / f"{name}.jsonl" for name in SYSTEMS]
SKILL = 0.9
# Far enough back for the simulated work to have ended before anybody looks.
LEAD = timedelta(hours=6)


def demonstration() -> Study | None:
    return Study.objects.filter(slug=SLUG).first()


def load_demonstration(*, at: datetime, owner: User | None = None) -> Study:
    """Import, set up, start and fill the demonstration study. Continues where it was interrupted,
    and changes nothing once it is complete. What is made is the owner's."""
    import_benchmark(BENCHMARK, name=NAME, owner=owner)
    study = demonstration() or _set_up(owner)
    if not study.is_frozen:
        start_study(study, at=at - LEAD)
    if study.is_open:
        simulate_study(study, skill=SKILL, seed=SEED, at=at - LEAD, pace=ALONE)
    return study


def _set_up(owner: User | None) -> Study:
    study = apply_study(FILE).study
    make_owner(study, owner)
    return study
