"""Making a draft of a study's file, or changing one until it is what the file says."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import unified_diff
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import QuerySet

from annotation.access.rights import Right, benchmarks_with_gold, make_owner, may
from annotation.models import Batch, Benchmark, Channel, OutcomeRule, Pool, Study
from annotation.models.access import MemberRole, record_settings
from annotation.models.assignment import random_letters
from annotation.models.errors import BadInput, Frozen
from annotation.models.settings import BY_COLUMN, OF_STUDY, in_table
from annotation.models.study import NEVER_FROZEN
from annotation.studies.codes import UNPAID, let_go_of_codes, log_rules, rules_of
from annotation.studies.drafting import hold_draft, log_batches
from annotation.studies.lab_defaults import lab_defaults
from annotation.studies.rules import ALWAYS_PAID, PAID_FOR_TIME, broken_rules, names_once
from annotation.studies.study_file.batch_tables import BatchReader, key_of
from annotation.studies.study_file.reading import StudyFile
from annotation.studies.study_file.writing import (
    OUTCOMES,
    Content,
    as_toml,
    content_of,
    document,
)
from annotation.work.languages import join_languages

TABLES = (*OF_STUDY, "pools", "batches", "outcomes")
NEEDED = ("name", "title", "benchmark")


@dataclass(frozen=True)
class Applied:
    """The study that the file is of, whether it is new, and what has changed, line by line."""

    study: Study
    is_new: bool
    diff: str


@transaction.atomic
def apply_study(
    file: StudyFile,
    *,
    by: User | None = None,
    only_new: bool = False,
    dry_run: bool = False,
    is_demonstration: bool = False,
) -> Applied:
    """Make the draft that a file says, owned by whoever makes it, or change one that is there, all
    of it or nothing; what a started study keeps may not differ. Nobody is a superuser: a command.
    A dry run stores nothing."""
    file.check_keys((), TABLES)
    said = {table: file.values((table,), in_table(table)) for table in OF_STUDY}
    for key in NEEDED:
        if not said["study"].get(key):
            raise file.wrong(("study",), f'A study needs its {key}: write {key} = "…".')
    study = Study.objects.filter(slug=said["study"]["name"]).first()
    if study and (only_new or not (by is None or may(by, study, Right.SET_UP))):
        raise _taken(file)
    before = content_of(study) if study else None
    kept = lab_defaults(by) if study is None else _still_kept(study, before)
    values, pools = _settings(file, said, before, kept, by), _pools(file, before)
    batches = BatchReader(file, values["benchmark"], pools).batches()
    after = Content(values, pools, batches, _rules(file, before))
    codes = any("code" in file.table("outcomes", name) for name in file.table("outcomes"))
    was, now = (document(content, codes=codes) if content else {} for content in (before, after))
    stored, new = (as_toml(tables).split("\n") for tables in (was, now))
    diff = "\n".join([*unified_diff(stored, new, lineterm="", n=0)][2:])
    if study and study.is_frozen:
        _check_frozen(file, study, was, now)
    study = study or _made(file, {**after.settings, "is_demonstration": is_demonstration}, by)
    if was != now:
        _store(study, before, after, by)
    if dry_run:
        transaction.set_rollback(True)
    return Applied(study, before is None, diff)


def _taken(file: StudyFile) -> BadInput:
    sentence = f"There is a study “{file.table('study')['name']}” already: choose another name."
    return file.wrong(("study", "name"), sentence)


# What the file says


def _settings(
    file: StudyFile,
    said: Mapping[str, Mapping[str, Any]],
    before: Content | None,
    kept: Mapping[str, Any],
    by: User | None,
) -> dict[str, Any]:
    """Settings by column; what the file leaves out is as usual, but for a seed that is there."""
    values: dict[str, Any] = {}
    for name, setting in BY_COLUMN.items():
        field: Any = Study._meta.get_field(name)
        usual = setting.default if field.is_relation else field.get_default()
        if name == "seed" and before:
            usual = before.settings[name]
        values[name] = said[setting.table].get(setting.key, kept.get(name, usual))
    benchmarks = Benchmark.objects.all() if by is None else benchmarks_with_gold(by)
    channels = Channel.objects.filter(is_simulated=False)
    values |= {
        "currency": values["currency"].upper(),
        "consent_text": _consent(file, said["study"]) or kept.get("consent_text", ""),
        "named_systems": names_once(values["named_systems"]),
        "benchmark": _named(file, "benchmark", benchmarks, "name", values["benchmark"]),
        "channel": _named(file, "channel", channels, "slug", values["channel"]),
    }
    for name, sentence in broken_rules(values):
        raise file.wrong((BY_COLUMN[name].table, BY_COLUMN[name].key), sentence)
    return values


def _still_kept(study: Study, before: Content | None) -> dict[str, Any]:
    """What a study has of the defaults of its owner, for a file that still says nothing of it."""
    owners = study.memberships.filter(role=MemberRole.OWNER).order_by("pk").select_related("user")
    owner, settings = owners.first(), before.settings if before else {}
    kept = lab_defaults(owner.user) if owner else {}
    return {name: value for name, value in kept.items() if settings.get(name) == value}


def _named(file: StudyFile, key: str, rows: QuerySet[Any], field: str, name: str) -> Any:
    row = rows.filter(**{field: name}).first()
    if row is None:
        known = ", ".join(rows.values_list(field, flat=True)) or "none"
        sentence = f"There is no {key} “{name[:80]}” that you may use; there are: {known}."
        raise file.wrong(("study", key), sentence)
    return row


def _consent(file: StudyFile, said: Mapping[str, Any]) -> str:
    first, by_code = said.get("consent", ""), said.get("consents", {})
    if "consent_file" in said:
        place = ("study", "consent_file")
        if first:
            raise file.wrong(place, "Say this or “consent”, not both.")
        if file.folder is None:
            raise file.wrong(place, "No second file is read here: write the text as “consent”.")
        try:
            first = (file.folder / said["consent_file"]).read_text(encoding="utf-8")
        except (OSError, ValueError) as error:
            sentence = "No text in UTF-8 can be read there: check the name."
            raise file.wrong(place, sentence) from error
    file.check_keys(("study", "consents"), dict(settings.LANGUAGES))
    return join_languages(first.strip(), {code: text.strip() for code, text in by_code.items()})


def _pools(file: StudyFile, before: Content | None) -> list[Pool]:
    pks = {pool.slug: pool.pk for pool in before.pools} if before else {}
    pools: list[Pool] = []
    for number in range(file.tables("pools")):
        place, known = ("pools", number), in_table("pools")
        said = file.values(place, known)
        for key in ("name", "title"):
            if not said.get(key):
                raise file.wrong(place, f'A pool needs its {key}: write {key} = "…".')
            if said[key] in [getattr(pool, known[key].column) for pool in pools]:
                raise file.wrong((*place, key), "Two pools have the same: give each its own.")
        pool = Pool(**{known[key].column: value for key, value in said.items()})
        pool.pk = pks.get(pool.slug)
        pools.append(pool)
    return pools


def _rules(file: StudyFile, before: Content | None) -> list[OutcomeRule]:
    """A rule for every outcome. A code that is not named stays as it is, or is made."""
    file.check_keys(("outcomes",), OUTCOMES)
    old_rules = {rule.outcome: rule for rule in before.rules} if before else {}
    rules: list[OutcomeRule] = []
    for name in OUTCOMES:
        place, old = ("outcomes", name), old_rules.get(name)
        usual = {"code": old.code if old else random_letters(), "pays_time": name not in UNPAID}
        said = file.values(place, in_table("outcomes"))
        rule = OutcomeRule(**{"outcome": name, **usual, **said})
        rule.pk = old.pk if old else None
        if name in ALWAYS_PAID and not rule.pays_time:
            raise file.wrong((*place, "pays_time"), PAID_FOR_TIME)
        if rule.code in (codes := {other.code: other.outcome for other in rules}):
            sentence = f"“{codes[rule.code]}” has the same code: give each its own."
            raise file.wrong((*place, "code"), sentence)
        rules.append(rule)
    return rules


def _check_frozen(
    file: StudyFile, study: Study, was: Mapping[str, Any], now: Mapping[str, Any]
) -> None:
    """Refuse, by field and line, what a started study may not become."""
    free = {(BY_COLUMN[name].table, BY_COLUMN[name].key) for name in NEVER_FROZEN}
    places = [place for place in _differing(was, now) if place not in free]
    if places:
        named = "; ".join(file.where(place).removeprefix(f"{file.name}, ") for place in places)
        raise Frozen(
            f"{file.name or 'This'} differs from the study {study.slug}, which has started and is "
            f"frozen, in {named}. Take these from an export of it, or copy the study."
        )


def _differing(was: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    """Tables and their keys, but of those that are repeated the table alone."""
    for table in TABLES:
        sides = [content.get(table, {}) for content in (was, now)]
        stored, new = (side if isinstance(side, Mapping) else {"": side} for side in sides)
        for key in {**stored, **new}:
            if stored.get(key) != new.get(key):
                yield (table, key) if key else (table,)


# Storing


def _made(file: StudyFile, values: Mapping[str, Any], by: User | None) -> Study:
    try:
        with transaction.atomic():
            study = Study.objects.create(**values)
    except IntegrityError as error:  # one of this name was made meanwhile
        raise _taken(file) from error
    make_owner(study, by)
    return study


def _store(study: Study, before: Content | None, after: Content, by: User | None) -> None:
    if not study.is_frozen:
        hold_draft(study)
    if before:
        _store_settings(study, before.settings, after.settings, by)
    if not study.is_frozen:
        _store_rows(study, before or Content({}, [], [], []), after, by)


def _store_settings(
    study: Study, before: Mapping[str, Any], after: Mapping[str, Any], by: User | None
) -> None:
    changed = [name for name in after if before[name] != after[name]]
    for name in changed:
        setattr(study, name, after[name])
    if changed:
        study.save(update_fields=changed)
        was, now = ({name: values[name] for name in changed} for values in (before, after))
        record_settings(by, study, was, now)


def _store_rows(study: Study, before: Content, after: Content, by: User | None) -> None:
    by_key = {key_of(batch): batch for batch in before.batches}
    keys = {key_of(batch) for batch in after.batches}
    study.batches.filter(
        pk__in=[batch.pk for key, batch in by_key.items() if key not in keys]
    ).delete()
    study.pools.exclude(slug__in=[pool.slug for pool in after.pools]).delete()
    pools = _stored_pools(study, before.pools, after.pools)
    for batch in after.batches:
        batch.study, batch.pool = study, pools[batch.pool.slug] if batch.pool else None
        old = by_key.get(key_of(batch))
        if old and (old.wanted, old.check_set_id) != (batch.wanted, batch.check_set_id):
            study.batches.filter(pk=old.pk).update(wanted=batch.wanted, check_set=batch.check_set)
    Batch.objects.bulk_create(batch for batch in after.batches if key_of(batch) not in by_key)
    log_batches(study, before.batches, after.batches, by=by)
    was = rules_of(study)
    let_go_of_codes(study.outcome_rules.all())
    for rule in after.rules:
        rule.study = study
        rule.save()
    if was:
        log_rules(study, was, by=by)


def _stored_pools(study: Study, before: Iterable[Pool], after: Iterable[Pool]) -> dict[str, Pool]:
    """Titles may have been swapped, so each lets go of its old one first."""
    stored = {pool.pk: pool for pool in before}
    for pk in stored:
        study.pools.filter(pk=pk).update(name=f"being changed {pk}")
    for pool in after:
        pool.study = study
        pool.join_token = stored[pool.pk].join_token if pool.pk else pool.join_token
        pool.save()
    return {pool.slug: pool for pool in after}
