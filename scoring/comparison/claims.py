"""Which systems a study compares itself with, and its verdicts as they were frozen when it was
settled: what comes later stands beside them and changes none."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.db.models import Min

from annotation.models import Assignment, ChangeAction, Study, Task
from annotation.models.texts import checksum
from scoring.cells.cells import Cell
from scoring.cells.scope import Choices, Scope, inputs_fingerprint
from scoring.claims.freezing import freeze
from scoring.comparison.keeping import plain, restored
from scoring.contrasts.difference import Difference
from scoring.core.s1 import SCORER_VERSION
from scoring.models import FrozenClaims, Run, shots_label
from scoring.models.claims import Reason, family_of, latest, runs_for_claims
from scoring.tables.words import listed

# Raise by hand when a formula of a verdict changes: frozen ones are computed anew, beside the old.
RULES = 4
AFTER_PEOPLE = "its run came after the first person"
TESTS = ("tests", "average_tests", "changes", "systems")
# What differs from the former version, and what it is then called: by the first that does.
REASONS = {
    "gold": (Reason.GOLD, "a correction of the gold"),
    "counted": (Reason.EXCLUSION, "an exclusion or its lifting"),
    "scorer": (Reason.SCORER, "a new scorer"),
    "runs": (Reason.NAMED, "a run of a named system"),
}
# What the log tells of those who count.
LOGGED = {
    ChangeAction.EXCLUDED: "an exclusion",
    ChangeAction.EXCLUSION_LIFTED: "the lifting of an exclusion",
}
Tests = Mapping[str, Sequence[Difference]]


@dataclass(frozen=True)
class Version:
    """One version of a study's verdicts."""

    number: int
    day: str
    reason: str
    # All that it followed, in words: one version may come of several changes.
    after: str = ""
    # As exports have them; nothing of them is for readers without the gold.
    verdicts: tuple[dict[str, Any], ...] = ()


def named_and_later(study: Study | None, systems: Iterable[Cell]) -> tuple[list[Cell], list[Cell]]:
    """The systems that a study compares itself with, by the runs that count; and those that it did
    not name or that came later, by all of theirs. A benchmark names none, and has all. What nobody
    named, and ran once people had come, may have been chosen by what they did."""
    if study is None:
        return list(systems), []
    first = study.assignments.in_places().aggregate(at=Min("consented_at"))["at"]
    counted = set(runs_for_claims(study).values_list("pk", flat=True))
    family = set(family_of(study))
    named, later = [], []
    for cell in systems:
        is_own = (cell.system, cell.method, cell.parameters) in family
        kept = [is_own and run.pk in counted for run in cell.runs]
        if any(kept):
            runs = cell.keeping(kept)
            latest_at = max(run.completed_at for run in runs.runs if run.completed_at)
            is_after = first is not None and not study.named_systems and latest_at > first
            named.append(replace(runs, lacks=(AFTER_PEOPLE,) if is_after else ()))
        if not all(kept):
            later.append(cell)
    return named, later


def with_claims(scope: Scope, choices: Choices, tests: Tests, *, inputs: str) -> dict[str, Any]:
    """These tests as they were frozen, with their versions; what is not of the frozen family as it
    is. A settled study's are frozen now, if they are not yet or rest on something else; but not
    under other choices than its own, nor from inputs that are no longer of this fingerprint."""
    study = scope.study
    if study is None or study.is_rehearsal or not choices.are_own or not study.is_settled:
        return {}
    former, basis = latest(study), _basis(study)
    frozen = former
    if former is None or former.fingerprint != _fingerprint(basis):
        # Looked at after the basis: what changes in between is not frozen.
        is_fresh = inputs_fingerprint(scope, replace(choices, shots=())) == inputs
        frozen = _freeze(study, tests, former, basis) if is_fresh else former
    if frozen is None:
        return {}
    day = frozen.frozen_at.date().isoformat()
    shown = {
        name: (
            *(replace(restored(Difference, claim), frozen_at=day) for claim in frozen.claims[name]),
            *(test for test in tests[name] if not _is_frozen(test, study)),
        )
        for name in TESTS
    }
    versions = list(FrozenClaims.objects.filter(study=study).order_by("version"))
    return {
        **shown,
        "versions": tuple(
            Version(
                version.version,
                version.frozen_at.date().isoformat(),
                version.get_reason_display(),
                listed(list(_after(before, version, study))),
                tuple(test for name in TESTS for test in version.claims[name]),
            )
            for before, version in zip([None, *versions], versions, strict=False)
        ),
    }


def _freeze(
    study: Study, tests: Tests, former: FrozenClaims | None, basis: Mapping[str, Any]
) -> FrozenClaims:
    claims: dict[str, Any] = {
        name: [plain(test) for test in tests[name] if _is_frozen(test, study)] for name in TESTS
    }
    return freeze(
        study,
        reason=REASONS[_changed(former, basis)[0]][0] if former else Reason.CLOSING,
        fingerprint=_fingerprint(basis),
        claims={**claims, "basis": basis},
        runs=_compared_runs(study, claims["tests"]),
    )


def _compared_runs(study: Study, tests: Iterable[Mapping[str, Any]]) -> list[Run]:
    names = ("system", "method", "parameters", "task", "shots")
    compared = {tuple(str(test[name]) for name in names) for test in tests}
    return [
        run
        for run in runs_for_claims(study).select_related("task").order_by("pk")
        if (run.system, run.method, run.parameters, run.task.slug, str(shots_label(run.shots)))
        in compared
    ]


def is_frozen(study: Study) -> bool:
    """Whether the last version rests on what there is now."""
    former = latest(study)
    return former is not None and former.fingerprint == _fingerprint(_basis(study))


def _fingerprint(basis: Mapping[str, Any]) -> str:
    return checksum(sorted(basis.items()))


def _changed(former: FrozenClaims | None, basis: Mapping[str, Any]) -> list[str]:
    if former is None:
        return []
    return [part for part in REASONS if former.claims["basis"][part] != basis[part]]


def _after(before: FrozenClaims | None, version: FrozenClaims, study: Study) -> Iterator[str]:
    """What lies between two versions, in words."""
    for part in _changed(before, version.claims["basis"]):
        logged: set[str] = set()
        if before and part == "counted":
            since = study.changes.filter(at__gte=before.frozen_at, at__lt=version.frozen_at)
            logged = set(since.values_list("action", flat=True))
        actions = [words for action, words in LOGGED.items() if action in logged]
        yield from actions or [REASONS[part][1]]


def _is_frozen(test: Difference, study: Study) -> bool:
    return test.simulated == study.is_demonstration and test.supplement is None


def _basis(study: Study) -> dict[str, Any]:
    """What the verdicts follow from, part by part."""
    people = Assignment.objects.filter(study=study, exclusion__isnull=True).completed().in_places()
    tasks = Task.objects.filter(pk__in=study.batches.order_by().values("task")).order_by()
    return {
        "gold": sorted([task.slug, task.latest_gold_version().number] for task in tasks),
        "counted": checksum(sorted(people.values_list("pk", flat=True))),
        "scorer": [SCORER_VERSION, RULES],
        "runs": checksum(sorted(runs_for_claims(study).values_list("checksum", flat=True))),
    }
