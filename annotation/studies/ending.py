"""How a study ends: otherwise than was named before its start, and with whom still at work."""

from annotation.models import Place, Study
from scoring.tables.words import counted

EARLY, MORE_PLACES = "closed before its end", "places were added"
FROM_ELSEWHERE = "others asked its people, and nothing was named before"


def not_as_named(study: Study) -> list[str]:
    """How its end differs from the one that was named before the start: no verdict is then sure."""
    lacking = Place.objects.filter(batch__study=study, simulated=False, kept=False)
    # In a rehearsal nobody takes a place.
    lacking = lacking.exclude(batch__study__is_rehearsal=True)
    day, named = study.closed_at and study.closed_at.date(), study.ends_on
    is_early = day is not None and (named is None or day < named) and lacking.exists()
    planned = {kept["batch"]: kept.get("wanted") for kept in study.frozen.get("batches", [])}
    wanted = study.batches.order_by().values_list("pk", "wanted")
    has_more = any(now > (planned.get(pk) or now) for pk, now in wanted)
    reasons = {FROM_ELSEWHERE: bool(study.source), EARLY: is_early, MORE_PLACES: has_more}
    return [reason for reason, applies in reasons.items() if applies]


def last_pages(study: Study) -> str:
    """Who may still send the page that they had at the closing; empty once nobody may."""
    many = study.assignments.open().count() if study.is_closed else 0
    who = counted(many, "person may still send a,people may still send their")
    return f"{who} last page, until {study.sends_until:%Y-%m-%d %H:%M} UTC" if many else ""
