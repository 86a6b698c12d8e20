"""Prolific's API, the little of it that is used, with its own names.

https://docs.prolific.com/api-reference
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import requests
from django.conf import settings

from annotation.models.errors import Refusal

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

    def create_study(self, body: Mapping[str, Any]) -> str:
        return str(self._post("studies/", body)["id"])

    def submissions(self, study_id: str) -> Iterator[dict[str, Any]]:
        for page in range(1, MOST_PAGES):
            query = {"study": study_id, "page": page, "page_size": PAGE_SIZE}
            found = _json(self._send("GET", "submissions/", params=query))
            yield from found["results"]
            if len(found["results"]) < PAGE_SIZE:
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
        """Be told of every change of a submission; confirmed at once."""
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
