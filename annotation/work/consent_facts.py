"""What everybody should know before they consent: what they do, what it pays, when it can end and
what is kept, as sentences in their language."""

from collections.abc import Collection, Sequence
from decimal import Decimal

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.kinds import answer_kind
from annotation.models import Outcome, OutcomeRule, Study
from annotation.models.frozen import BatchContent, draft_content
from annotation.work.estimating import WorkingTime, most_paid_s, whole_minutes, working_time
from annotation.work.finishing import earned
from annotation.work.wording import (
    about_amount,
    amount_text,
    gap,
    hours_text,
    language_name,
    minutes_text,
    range_text,
    seconds_text,
    share_text,
    short_amount,
)

# By their headings what is to be known of them.
Facts = dict[str, Sequence[str]]
Contents = Sequence[BatchContent]
# By their outcomes.
Rules = dict[str, OutcomeRule]


def consent_facts(study: Study, contents: Contents) -> tuple[list[str], Facts]:
    """What everybody should have read before the consent, after what they are asked to do; and all
    the rest."""
    rules, time = _rules(study), working_time(study, contents)
    return _in_short(study, contents, rules, time), _in_detail(study, contents, rules, time)


def _in_short(study: Study, contents: Contents, rules: Rules, time: WorkingTime) -> list[str]:
    stop = _("You can pause or stop at any time.")
    return [
        _how_long(time),
        _pay(study, time, rules.get(Outcome.COMPLETED)),
        _("We record how long you take, whether you paste, and whether the page was translated."),
        f"{stop} {_paid_then(study, rules.get(Outcome.WITHDRAWN))}",
        _early_end(study, contents, rules),
    ]


def _in_detail(study: Study, contents: Contents, rules: Rules, time: WorkingTime) -> Facts:
    return {
        _("What you do"): _what_you_do(contents),
        _("What you are paid"): _exactly(study, rules, time),
        _("Pay limits"): _caps(study, contents, rules),
        **_marks(contents),
        _("Pauses"): _pausing(study, rules),
        _("What is kept"): _kept(study),
    }


def asked_of(contents: Contents) -> list[str]:
    """A sentence for each thing that one of the batches asks, and the language of the texts where
    it is not that of the page."""
    sentences = list(dict.fromkeys(map(_asked, contents)))
    names = sorted(filter(None, {language_name(content.language) for content in contents}))
    return [
        *([_("Your work is one of these:")] if len(sentences) > 1 else []),
        *sentences,
        *(_("The texts are in %(language)s.") % {"language": name} for name in names),
    ]


def _asked(content: BatchContent) -> str:
    if sample_asks := content.sample.get("asks"):
        return str(sample_asks)
    kind = answer_kind(content.kind)
    asks = kind.asks(_from_to({len(kind.options(example)) for example in content.test}))
    shows_images = any(example.images for example in content.test)
    return gap().join([asks, *([_("You need to see images for it.")] if shows_images else [])])


def _rules(study: Study) -> Rules:
    return {rule.outcome: rule for rule in study.outcome_rules.all()}


def ahead(content: BatchContent) -> str:
    """Says how many items come after the practice, once it is known which batch it is."""
    return ngettext(
        "Then %(n)s item without feedback.", "Then %(n)s items without feedback.", len(content.test)
    ) % {"n": len(content.test)}


def _paid_then(study: Study, rule: OutcomeRule | None) -> str:
    """What an outcome pays, said before it has come about."""
    if rule is None or (rule.pays_time and not rule.least):
        return _("You are then paid for the time you worked.")
    least = {"amount": amount_text(rule.least, study.currency)}
    if rule.pays_time:
        sentence = _("You are then paid for the time you worked, and at least %(amount)s.")
        return sentence % least
    if rule.least:
        return _("You are then paid %(amount)s.") % least
    return _("Nothing is paid then.")


def _what_you_do(contents: Contents) -> list[str]:
    training = [len(content.training) for content in contents]
    tests = [len(content.test) for content in contents]
    sentence = ngettext(
        "%(n)s item to answer, without feedback.",
        "%(n)s items to answer, without feedback.",
        max(tests),
    )
    return [
        *_check_sentence([len(content.checks) for content in contents]),
        *_training_sentence(min(training), max(training)),
        sentence % {"n": _from_to(tests)},
    ]


def _from_to(counts: Collection[int]) -> str:
    return "–".join(dict.fromkeys(map(str, (min(counts), max(counts)))))


def _check_sentence(counts: Sequence[int]) -> list[str]:
    if not any(counts):
        return []
    sentence = ngettext(
        "Before the work itself %(n)s item decides whether you go on: without feedback, and "
        "paid like the others.",
        "Before the work itself %(n)s items decide whether you go on: without feedback, and "
        "paid like the others.",
        max(counts),
    )
    return [sentence % {"n": _from_to(counts)}]


def _training_sentence(least: int, most: int) -> list[str]:
    if not most:
        return []
    if least == most:
        sentence = ngettext(
            "First %(n)s item for practice: you see the right answer after it.",
            "First %(n)s items for practice: you see the right answer after each.",
            most,
        )
    elif least:
        sentence = _(
            "First %(least)s to %(n)s items for practice: you see the right answer after each."
        )
    else:
        sentence = _("First up to %(n)s items for practice: you see the right answer after each.")
    return [sentence % {"n": most, "least": least}]


def _how_long(time: WorkingTime) -> str:
    least, most = (minutes_text(whole_minutes(s)) for s in (time.least, time.most))
    if time.is_measured:
        sentence = _("About %(time)s (at the median pace of those who have finished).")
    else:
        sentence = _("About %(time)s (our estimate; hardly anyone has finished yet).")
    return sentence % {"time": range_text(least, most)}


def _pay(study: Study, time: WorkingTime, rule: OutcomeRule | None) -> str:
    least, most = (about_amount(amount, study.currency) for amount in _totals(study, time, rule))
    return _(
        "You are paid %(rate)s an hour for the time you work: about %(total)s in all if you go to "
        "the end."
    ) % {"rate": short_amount(study.hourly_rate, study.currency), "total": range_text(least, most)}


def _totals(study: Study, time: WorkingTime, rule: OutcomeRule | None) -> tuple[Decimal, Decimal]:
    minimum = rule.least if rule else Decimal(0)
    return (
        max(earned(1000 * time.least, study.hourly_rate, study.currency), minimum),
        max(earned(1000 * time.most, study.hourly_rate, study.currency), minimum),
    )


def _exactly(study: Study, rules: Rules, time: WorkingTime) -> list[str]:
    rule = rules.get(Outcome.COMPLETED)
    amounts = (amount_text(total, study.currency) for total in _totals(study, time, rule))
    times = (minutes_text(whole_minutes(s)) for s in (time.least, time.most))
    sentences = [
        _("By this estimate %(amount)s for %(time)s of work.")
        % {"amount": range_text(*amounts), "time": range_text(*times)}
    ]
    if rule is not None and rule.least:
        least = {"amount": amount_text(rule.least, study.currency)}
        sentences.append(_("If you finish you are paid at least %(amount)s.") % least)
    return sentences


def _caps(study: Study, contents: Contents, rules: Rules) -> list[str]:
    caps = {
        "item": seconds_text(study.item_cap_s),
        "reading": seconds_text(study.reading_cap_s),
        "reveal": seconds_text(study.reveal_cap_s),
    }
    if any(content.training for content in contents):
        sentence = _(
            "More than %(item)s on one item counts as a pause; so does more than %(reading)s on "
            "the instructions, each time they are shown, or %(reveal)s on a right answer."
        )
    else:
        sentence = _(
            "More than %(item)s on one item counts as a pause; so does more than %(reading)s on "
            "the instructions."
        )
    more = _("After the first items up to %(reading)s more are paid for reading.")
    minimum = max((rule.least for rule in rules.values()), default=Decimal(0))
    amount = max(
        earned(1000 * most_paid_s(study, contents), study.hourly_rate, study.currency), minimum
    )
    return [
        sentence % caps,
        *([more % caps] if any(content.checks for content in contents) else []),
        _("Pauses are not paid. Nobody is paid more than %(amount)s.")
        % {"amount": amount_text(amount, study.currency)},
    ]


def _early_end(study: Study, contents: Contents, rules: Rules) -> str:
    decides = study.min_training_score is not None or study.max_drop is not None
    has_rule = decides and any(content.training for content in contents)
    has_checks = any(content.checks for content in contents)
    if has_checks and has_rule:
        sentence = _("It may end after the checks or the practice, if too few answers are right.")
    elif has_checks:
        sentence = _("It may end after the checks, if too few answers are right.")
    elif has_rule:
        sentence = _("It may end after the practice, if too few answers are right.")
    else:
        return _("Your answers cannot end your part early.")
    return f"{sentence} {_paid_then(study, rules.get(Outcome.SCREENED_OUT))}"


def _marks(contents: Contents) -> Facts:
    shares = [content.least_check_score or 0 for content in contents if content.checks]
    if not shares:
        return {}
    share = share_text(max(shares) / 100)
    sentence = _("After the checks the study ends for you if your score there is below %(share)s.")
    return {_("Can it end early?"): [sentence % {"share": share}]}


def _pausing(study: Study, rules: Rules) -> list[str]:
    minutes, hours = hours_text(study.lease_minutes), hours_text(60 * study.expire_hours)
    return [
        _("To pause, close the page; to go on, open your personal link, which is on every page."),
        *_lost_places(study, rules, {"minutes": minutes, "hours": hours}),
    ]


def _lost_places(study: Study, rules: Rules, place: dict[str, str]) -> list[str]:
    """Both ways to lose a place by a long pause, and what is paid after each."""
    taken = _("Your place is kept for %(minutes)s; after that somebody else may take it.") % place
    silent = _("After %(hours)s without activity the work ends.") % place
    after_taken, after_silent = (
        _paid_then(study, rules.get(outcome)) for outcome in (Outcome.DISPLACED, Outcome.EXPIRED)
    )
    if after_taken == after_silent:
        return [f"{taken} {silent} {after_silent}"]
    return [f"{taken} {after_taken}", f"{silent} {after_silent}"]


def _kept(study: Study) -> list[str]:
    decoy = _("The page's code holds a hidden question for bots: we keep whether it is answered.")
    return [
        _(
            "With each answer: when it was shown and sent, how long the page was in sight and in "
            "use, how many characters were typed, how often something was pasted, and whether the "
            "page was translated."
        ),
        *([decoy] if study.has_decoy else []),
        _("The researchers look at what seems odd. Nothing of it ends your part by itself."),
    ]


def facts_to_read(study: Study) -> Facts:
    """What the consent page will tell; nothing while there are no batches."""
    batches = study.batches.select_related("task", "training_set", "test_set", "pool")
    contents = [draft_content(batch) for batch in batches]
    if not contents:
        return {}
    short, details = consent_facts(study, contents)
    return {"At first sight": [*asked_of(contents), *short], **details}
