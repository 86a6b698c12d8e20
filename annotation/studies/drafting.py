"""Drafting: many batches at once, from tasks × shots × chains or from episodes; and a study, as a
plan recommends it, or modelled on one that has started and can no longer be changed."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import ProtectedError

from annotation.access.rights import make_owner
from annotation.benchmarks.chains import chains_of, shot_contents, shots_and_split, unchained
from annotation.models import (
    Batch,
    ChangeAction,
    ItemSet,
    Outcome,
    OutcomeRule,
    Role,
    Study,
    StudyState,
    Task,
    new_token,
)
from annotation.models.access import record
from annotation.models.assignment import random_letters
from annotation.models.benchmark import PART
from annotation.models.errors import BadInput, Frozen, Refusal
from annotation.models.study import FROZEN_FIELDS, NEVER_FROZEN
from annotation.studies.codes import add_missing_codes
from annotation.studies.cutting import cut_test_set, in_parts
from annotation.studies.lab_defaults import lab_defaults
from annotation.work.estimating import far_longer, timed
from scoring.tables.words import counted

# The log names no more batches of one change than this.
MOST_LOGGED = 20


def possible_batches(task: Task) -> list[Batch]:
    """Every batch that the item sets of a task allow, of no study and not stored: zero-shot, each
    shot set with the chain that it nests in, each episode."""
    return [*_of_shot_sets(task), *_of_episodes(task)]


def shots_of(batch: Batch) -> int | None:
    """The shots of a batch: 0 for zero-shot, None for a training set whose file does not say."""
    return batch.training_set.shots if batch.training_set else 0


def split_of(batch: Batch) -> int | None:
    """The split by the chain that its shot set nests in, or else by the file; None without any."""
    return batch.split if batch.chain is None else batch.chain


def add_batches(
    study: Study, chosen: Sequence[Batch], *, wanted: int, by: User | None = None
) -> list[Batch]:
    """Add these batches unless they exist already. Raises Frozen once the study has started."""
    _check(study, chosen, wanted)
    with transaction.atomic():
        hold_draft(study)
        added = Batch.objects.bulk_create(missing(study, chosen, wanted=wanted))
        log_batches(study, [], added, by=by)
    return added


def expect_seconds(study: Study, seconds: float | None) -> None:
    """Set how long one example takes; None leaves it to what is usual. Raises Frozen once it has
    started."""
    with transaction.atomic():
        hold_draft(study)
        Study.objects.filter(pk=study.pk).update(expected_seconds=seconds)


def delete_batches(study: Study, batches: Collection[int], *, by: User | None = None) -> int:
    """Take these batches out of a draft. Raises Frozen once the study has started."""
    with transaction.atomic():
        hold_draft(study)
        chosen = study.batches.filter(pk__in=batches)
        taken_out = list(chosen.select_related("task", "training_set", "test_set", "pool"))
        chosen.delete()
        log_batches(study, taken_out, [], by=by)
    return len(taken_out)


def log_batches(
    study: Study, before: Sequence[Batch], after: Sequence[Batch], *, by: User | None
) -> None:
    """What batches were, and what they are: those that are the same in both are left out."""
    was, now = (
        Counter((f"{batch}, {batch.test_set.name}", batch.wanted) for batch in batches)
        for batches in (before, after)
    )
    if was != now:
        changes = (_told(list((was - now).elements())), _told(list((now - was).elements())))
        record(by, study, ChangeAction.BATCHES, *changes)


def _told(batches: Sequence[tuple[str, int]]) -> dict[str, int]:
    """The people wanted by the batch's name; of very many batches, how many they are in all."""
    if len(batches) <= MOST_LOGGED:
        return dict(batches)
    return {"batches": len(batches), "people": sum(wanted for _name, wanted in batches)}


def missing(study: Study, chosen: Iterable[Batch], *, wanted: int) -> list[Batch]:
    """The batches that the study does not have yet, as they would be stored."""
    keys = ("training_set_id", "test_set_id", "pool_id")
    present = set(study.batches.values_list(*keys))
    new = [batch for batch in chosen if tuple(getattr(batch, key) for key in keys) not in present]
    for batch in new:
        batch.study, batch.wanted = study, wanted
    return new


def hold_draft(study: Study) -> None:
    """Keep the study from being started until this transaction ends: a start would freeze the
    batches that exist, and it updates this row."""
    draft = Study.objects.filter(pk=study.pk, state=StudyState.DRAFT)
    if not draft.update(state=StudyState.DRAFT):
        raise Frozen("This study has been started and is frozen: copy it to change it.")


@transaction.atomic
def delete_draft(study: Study) -> None:
    if study.is_frozen:
        raise Frozen("A study that has started is kept, with its judgements: close it instead.")
    hold_draft(study)
    try:
        study.delete()
    except ProtectedError as error:
        raise Refusal("Other rows need this study: its page in the admin lists them.") from error


def _check(study: Study, chosen: Sequence[Batch], wanted: int) -> None:
    if wanted < 1:
        raise BadInput("A batch needs at least one annotator: ask for 1 or more.")
    if not chosen:
        raise BadInput(
            "No item set fits this choice: tick a task under a number of shots that it has, and a "
            "split of it, or import the files."
        )
    for task in {batch.task for batch in chosen}:
        if task.benchmark_id != study.benchmark_id:
            raise BadInput(
                f"The task {task} belongs to another benchmark than the study: leave it out."
            )


def _of_shot_sets(task: Task) -> list[Batch]:
    test_set = task.item_sets.filter(role=Role.TEST, episode=None).order_by("name").first()
    if test_set is None:
        return []
    contents = shot_contents(task)
    chains = chains_of(contents)
    sets: list[tuple[ItemSet, int | None]] = [
        (item_set, chain.number) for chain in chains for item_set in chain.sets.values()
    ]
    sets += [(item_set, None) for item_set in unchained(contents, chains)]
    sets.sort(key=lambda pair: shots_and_split(pair[0]))
    return [
        Batch(task=task, training_set=item_set, test_set=test_set, chain=chain)
        for item_set, chain in [(None, None), *sets]
    ]


def _of_episodes(task: Task) -> list[Batch]:
    """An episode's training set goes with its test set; without one it is zero-shot."""
    of_episodes = task.item_sets.filter(episode__isnull=False).order_by("episode", "name")
    training = {s.episode: s for s in of_episodes if s.role == Role.TRAINING}
    return [
        Batch(task=task, training_set=training.get(test_set.episode), test_set=test_set)
        for test_set in of_episodes
        if test_set.role == Role.TEST
    ]


def draft_study(
    task: Task,
    *,
    shots: int,
    batches: int,
    annotators: int,
    items: int,
    slug: str,
    viewers: int | None = None,
    seen: int | None = None,
    owner: User | None = None,
    **settings: Any,
) -> Study:
    """Make a draft of so many `batches` of a task at these shots, each for so many `annotators` on
    so many `items`, which count contexts. With `viewers` for each item the test set is cut into
    parts of one annotator each, who have `seen` so many items together. The `settings` are a
    study's. Raises BadInput if the task has fewer such sets, or the short name is taken."""
    check_free(slug)
    chosen = _fitting(task, shots, batches)
    with transaction.atomic():
        usual = lab_defaults(owner)
        study = Study.objects.create(slug=slug, benchmark=task.benchmark, **{**usual, **settings})
        make_owner(study, owner)
        add_missing_codes(study)
        for batch in chosen:
            batch.test_set = cut_test_set(batch.test_set, seen or items)
        if viewers:
            chosen, annotators = [*in_parts(chosen, items, viewers, seed=0)], 1
        add_batches(study, chosen, wanted=annotators, by=owner)
    return study


def check_free(slug: str) -> None:
    if Study.objects.filter(slug=slug).exists():
        raise BadInput(f"There is a study “{slug}” already: choose another name.")


def _fitting(task: Task, shots: int, count: int) -> list[Batch]:
    possible = possible_batches(task)
    fitting = [b for b in possible if shots_of(b) == shots and PART not in b.test_set.name]
    if len(fitting) < count:
        sizes = {shots_of(batch) for batch in possible}
        known = ", ".join(map(str, sorted(size for size in sizes if size is not None)))
        raise BadInput(
            f"The task {task.slug} has {counted(len(fitting), 'batch,batches')} with {shots} "
            f"shots, not {count}; it has sets with these shots: {known}."
        )
    return fitting[:count]


# A seed and codes of its own: a copy is another experiment.
COPIED_FIELDS = {"benchmark", "channel", *NEVER_FROZEN, *FROZEN_FIELDS} - {"seed"}


@transaction.atomic
def copy_study(
    study: Study,
    *,
    slug: str,
    title: str = "",
    owner: User | None = None,
    for_rehearsal: bool = False,
    among: Collection[int] | None = None,
) -> Study:
    """A draft with the same rules, texts and batches (or these of them), with new links, codes and
    seed; for simulated annotators alone if it is made for a rehearsal."""
    study.check_asked_here()
    check_free(slug)
    copy = Study.objects.create(
        slug=slug,
        title=title or study.title,
        is_rehearsal=for_rehearsal,
        rehearses=study if for_rehearsal else None,
        **{field: getattr(study, field) for field in COPIED_FIELDS},
    )
    make_owner(copy, owner)
    rules, batches = list(study.outcome_rules.all()), list(study.batches.order_by("id"))
    batches = [batch for batch in batches if among is None or batch.pk in among]
    pools = {pool.pk: pool for pool in study.pools.all()}
    for pool in pools.values():
        pool.pk, pool.study, pool.join_token = None, copy, new_token()
        pool.save()
    for rule in rules:
        rule.pk, rule.study, rule.code = None, copy, random_letters()
    for batch in batches:
        batch.pk, batch.study, batch.join_token = None, copy, new_token()
        batch.pool = pools[batch.pool_id] if batch.pool_id else None
        batch.description, batch.gold_version = "", None
        batch.check_description, batch.check_gold_version = "", None
    OutcomeRule.objects.bulk_create(rules)
    Batch.objects.bulk_create(batches)
    record(owner, copy, ChangeAction.COPIED, {}, {"from": study.slug})
    return copy


@transaction.atomic
def part_by_length(study: Study, *, by: User | None = None) -> Study:
    """The far longer batches of a platform's draft in a second study, with the same members. What
    the platform pays is asked again of both. Raises Refusal where one study will do."""
    longer = [batch.pk for batch in far_longer(study, timed(study, study.batches.all()))]
    if not longer:
        raise BadInput("These batches take about as long as each other: one study will do.")
    slug, title = f"{study.slug[:70]}-longer", f"{study.title[:180]}, longer batches"
    second = copy_study(study, slug=slug, title=title, among=longer)
    for membership in study.memberships.all():
        second.memberships.create(user=membership.user, role=membership.role)
    delete_batches(study, longer, by=by)
    rules = OutcomeRule.objects.filter(study__in=[study, second], outcome=Outcome.COMPLETED)
    rules.update(platform_pays=None)
    return second
