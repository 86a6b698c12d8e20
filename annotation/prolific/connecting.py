"""Connecting a study to Prolific: the token, the draft of the study there, who may not come again,
and being told what becomes of submissions; by the little of Prolific's API that is used.

https://docs.prolific.com/api-reference
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal, DecimalException
from math import ceil
from typing import Any

import requests
from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Q

from annotation.models import (
    Annotator,
    ChangeAction,
    Outcome,
    OutcomeRule,
    ProlificStudy,
    Study,
)
from annotation.models.access import record
from annotation.models.errors import BadInput, Refusal
from annotation.studies.codes import TOLD, has_fixed_payment
from annotation.work.estimating import estimate, expected_seconds
from annotation.work.languages import in_readers_language

TIMEOUT_S = 30
PAGE_SIZE = 100
# More pages than any study has submissions.
MOST_PAGES = 1_000


class Declined(Refusal):
    """Prolific answered that it did not do it."""


class Lost(Refusal):
    """No answer, or none that says what was done: it may have been done, or not."""


@dataclass(frozen=True)
class Client:
    token: str

    def create_study(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        return dict(self._post("studies/", body))

    def study(self, study_id: str) -> Mapping[str, Any]:
        return dict(_json(self._send("GET", f"studies/{study_id}/")))

    def submissions(self, study_id: str) -> Iterator[dict[str, Any]]:
        for page in range(1, MOST_PAGES):
            query = {"study": study_id, "page": page, "page_size": PAGE_SIZE}
            answer = _json(self._send("GET", "submissions/", params=query))
            yield from answer["results"]
            if len(answer["results"]) < PAGE_SIZE:
                return

    def approve(self, submission_id: str) -> None:
        """Asking twice does no harm: Prolific ignores the second time."""
        self._post(f"submissions/{submission_id}/transition/", {"action": "APPROVE"})

    def complete(self, submission_id: str, code: str) -> None:
        """Have the actions of a code carried out, as if the participant had entered it."""
        body = {"action": "COMPLETE", "completion_code": code}
        self._post(f"submissions/{submission_id}/transition/", body)

    def set_up_bonuses(self, study_id: str, lines: str) -> str:
        """Pays nothing yet."""
        body = {"study_id": study_id, "csv_bonuses": lines}
        return str(self._post("submissions/bonus-payments/", body)["id"])

    def pay_bonuses(self, bonuses_id: str) -> None:
        """Never ask twice: Prolific would pay twice."""
        self._post(f"bulk-bonus-payments/{bonuses_id}/pay/", {})

    def create_group(self, name: str, workspace_id: str, people: Sequence[str]) -> str:
        body = {"name": name, "workspace_id": workspace_id, "participant_ids": list(people)}
        return str(self._post("participant-groups/", body)["id"])

    def add_to_group(self, group_id: str, people: Sequence[str]) -> None:
        body = {"participant_ids": list(people)}
        self._post(f"participant-groups/{group_id}/participants/", body)

    def create_secret(self, workspace_id: str) -> str:
        return str(self._post("hooks/secrets/", {"workspace_id": workspace_id})["value"])

    def subscribe(self, workspace_id: str, target_url: str) -> str:
        body = {
            "workspace_id": workspace_id,
            "event_type": "submission.status.change",
            "target_url": target_url,
        }
        answer = self._send("POST", "hooks/subscriptions/", json=body)
        subscription = str(_json(answer)["id"])
        secret = answer.headers.get("X-Hook-Secret", "")
        self._post(f"hooks/subscriptions/{subscription}/", {"secret": secret})
        return subscription

    def _post(self, path: str, body: Mapping[str, Any]) -> Any:
        return _json(self._send("POST", path, json=body))

    def _send(self, method: str, path: str, **more: Any) -> requests.Response:
        try:
            answer = requests.request(
                method,
                settings.PROLIFIC_API + path,
                headers={"Authorization": f"Token {self.token}"},
                timeout=TIMEOUT_S,
                allow_redirects=False,
                **more,
            )
        except requests.RequestException as lost:
            # Not its text: that may hold the address with ids.
            raise Lost(f"Prolific did not answer ({type(lost).__name__}).") from None
        if 400 <= answer.status_code < 500:
            raise Declined(f"Prolific declined: {_why(answer) or answer.status_code}")
        if not answer.ok or answer.is_redirect:
            raise Lost(f"Prolific answered with an error of its own ({answer.status_code}).")
        return answer


def _json(answer: requests.Response) -> Any:
    try:
        return answer.json()
    except ValueError:
        raise Lost("Prolific's answer could not be read.") from None


def _why(answer: requests.Response) -> str:
    """Its own sentence: {"error": {"title": …, "detail": …}}."""
    try:
        error = answer.json()["error"]
        return str(error.get("detail") or error.get("title"))[:300]
    except (ValueError, KeyError, TypeError, AttributeError):
        return ""


SETTINGS = ("token", "webhook_secret", "workspace_id", "project_id", "remote_id")
SECRETS = ("token", "webhook_secret")
# They have seen the task.
WORKED = frozenset(Outcome.values)


def connection_of(study: Study) -> ProlificStudy:
    return ProlificStudy.objects.get_or_create(study=study)[0]


def client_of(connection: ProlificStudy) -> Client:
    """Raises BadInput while there is no token: then nothing is ever sent."""
    if not connection.token:
        raise BadInput("No token is stored, so nothing is sent to Prolific: store one first.")
    return Client(connection.token)


@transaction.atomic
def configure(connection: ProlificStudy, values: dict[str, str], *, by: User | None) -> None:
    """Store the settings; the log says which were changed, and holds no secret."""
    changed = [name for name in SETTINGS if getattr(connection, name) != values[name]]
    for name in changed:
        setattr(connection, name, values[name])
    if "remote_id" in changed:
        connection.rewards = {}
    connection.save(update_fields=[*changed, "rewards"])
    if changed:
        after = {
            name: "removed" if not values[name] else "set" if name in SECRETS else values[name]
            for name in changed
        }
        record(by, connection.study, ChangeAction.PLATFORM, {}, after)


def draft_study(connection: ProlificStudy, *, link: str, by: User | None = None) -> None:
    """Make the study on Prolific, as a draft that nobody there sees until it is published."""
    if connection.remote_id:
        raise BadInput("This study is on Prolific already; change it there.")
    made = client_of(connection).create_study(study_body(connection, link))
    connection.remote_id, connection.rewards = str(made["id"]), {}
    with suppress(Lost):
        connection.rewards = _rewards(made, connection.study)
    connection.save(update_fields=["remote_id", "rewards"])
    record(by, connection.study, ChangeAction.PLATFORM, {}, {"remote_id": connection.remote_id})


def read_rewards(connection: ProlificStudy) -> None:
    """Keep what the study there pays, and in which currency. Raises Refusal."""
    remote = client_of(connection).study(connection.remote_id)
    connection.rewards = _rewards(remote, connection.study)
    connection.save(update_fields=["rewards"])


def _rewards(remote: Mapping[str, Any], study: Study) -> dict[str, str]:
    outcomes = dict(study.outcome_rules.values_list("code", "outcome"))
    try:
        rewards = {
            "currency": str(remote.get("presentment_currency_code") or remote["currency_code"]),
            str(Outcome.COMPLETED): _whole(remote["reward"]),
        }
        for code in remote.get("completion_codes") or []:
            for action in code["actions"]:
                if "fixed_screen_out_reward" in action and code["code"] in outcomes:
                    rewards[outcomes[code["code"]]] = _whole(action["fixed_screen_out_reward"])
    except (KeyError, TypeError, DecimalException):
        raise Lost("Prolific did not say what its study pays.") from None
    return rewards


def _whole(cents: Any) -> str:
    return f"{Decimal(str(cents)) / 100:.2f}"


def study_body(connection: ProlificStudy, link: str) -> dict[str, Any]:
    study = connection.study
    batches = list(study.batches.select_related("task"))
    if not batches:
        raise BadInput("The study has no batches: add some.")
    rules = {rule.outcome: rule for rule in study.outcome_rules.all()}
    reward = rules[Outcome.COMPLETED].platform_pays if Outcome.COMPLETED in rules else None
    if not reward:
        raise BadInput(
            "Write on the page “Payments” what Prolific pays for completed work: its reward."
        )
    seconds = expected_seconds(study, {batch.task for batch in batches})
    needed = estimate(study, batches, seconds=seconds)
    body = {
        "name": study.title,
        "internal_name": study.slug,
        "description": in_readers_language(study.consent_text) or study.title,
        "external_study_url": link,
        "prolific_id_option": "url_parameters",
        "completion_codes": [
            _code(rule, needed.places, connection.group_id) for rule in rules.values()
        ],
        "estimated_completion_time": max(1, ceil(60 * needed.hours / needed.places)),
        "reward": _cents(reward),
        "total_available_places": needed.places,
        "device_compatibility": ["desktop", "tablet", "mobile"],
        "filters": [
            {"filter_id": "participant_group_blocklist", "selected_values": [group]}
            for group in [connection.group_id]
            if group
        ],
    }
    return body | ({"project": connection.project_id} if connection.project_id else {})


def _code(rule: OutcomeRule, places: int, group_id: str) -> dict[str, Any]:
    actions = [_action(rule, places)]
    if group_id and rule.outcome in WORKED:
        actions.append({"action": "ADD_TO_PARTICIPANT_GROUP", "participant_group": group_id})
    return {
        "code": rule.code,
        "code_type": TOLD[rule.outcome].get("code_type", "OTHER"),
        "actor": "participant",
        "actions": actions,
    }


def _action(rule: OutcomeRule, places: int) -> dict[str, Any]:
    """What Prolific does when the code is handed in. It never approves or rejects by itself."""
    if rule.platform_pays and has_fixed_payment(rule):
        return {
            "action": "FIXED_SCREEN_OUT_PAYMENT",
            "fixed_screen_out_reward": _cents(rule.platform_pays),
            "slots": places,
        }
    if rule.outcome in (Outcome.COMPLETED, Outcome.SCREENED_OUT):
        return {"action": "MANUALLY_REVIEW"}
    return {"action": "REQUEST_RETURN", "return_reason": TOLD[rule.outcome]["return_reason"]}


def _cents(amount: Decimal) -> int:
    return int(amount * 100)


def block_repeats(connection: ProlificStudy, *, by: User | None = None) -> int:
    """Keep whoever has worked on these tasks in a participant group, which the study on Prolific
    leaves out. Returns how many; safe to run again."""
    study = connection.study
    batches = study.batches.select_related("task", "check_set__task")
    keys = {key for batch in batches for key in batch.exposure_keys}
    seen = Q(assignments__exposure_key__in=keys) | Q(exposures__exposure_key__in=keys)
    worked = Annotator.objects.filter(seen, channel=study.channel)
    people = sorted(set(worked.exclude(external_id="").values_list("external_id", flat=True)))
    client = client_of(connection)
    if connection.group_id:
        if people:
            client.add_to_group(connection.group_id, people)
        return len(people)
    if not connection.workspace_id:
        raise BadInput("A participant group belongs to a workspace: store its id first.")
    name = f"Worked on {study.benchmark} ({study.slug})"
    connection.group_id = client.create_group(name, connection.workspace_id, people)
    connection.save(update_fields=["group_id"])
    record(by, study, ChangeAction.PLATFORM, {}, {"group": "made"})
    return len(people)


def subscribe(connection: ProlificStudy, *, target_url: str, by: User | None = None) -> None:
    client = client_of(connection)
    if not connection.workspace_id:
        raise BadInput("Prolific reports for a workspace: store its id first.")
    if not target_url.startswith("https://"):
        raise BadInput(
            "Prolific reports to addresses that begin with https:// alone: it is asked instead."
        )
    if not connection.webhook_secret:
        # A workspace has one secret at a time: a new one would end the other studies'.
        others = ProlificStudy.objects.filter(workspace_id=connection.workspace_id)
        known = others.exclude(webhook_secret="").values_list("webhook_secret", flat=True).first()
        connection.webhook_secret = known or client.create_secret(connection.workspace_id)
        # Before the subscription: its first event may come at once.
        connection.save(update_fields=["webhook_secret"])
    connection.subscription_id = client.subscribe(connection.workspace_id, target_url)
    connection.save(update_fields=["subscription_id"])
    record(by, connection.study, ChangeAction.PLATFORM, {}, {"webhook": "set"})
