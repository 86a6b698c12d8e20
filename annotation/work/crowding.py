"""Many people from one address: beyond a number an hour each types the hour's code, which only the
owner's page shows. A script cannot fill a study by itself, and a class in one room can."""

from datetime import datetime, timedelta

from django.conf import settings
from django.http import HttpRequest
from django.utils.crypto import constant_time_compare, salted_hmac

from annotation.access import throttles
from annotation.models import Study
from annotation.models.assignment import LETTERS
from annotation.work.device_codes import letters_of, shown_code
from annotation.work.joining import hour_of

HOUR = timedelta(hours=1)
WRONG_CODES = "wrong_codes_per_address"


def limit_of(study: Study) -> tuple[str, int]:
    """The throttle, and how many may join from one address in an hour; 0 for any number."""
    limit = "platform_joins_an_hour" if study.channel.pays_itself else "joins_an_hour"
    of_study = study.joins_an_hour
    return limit, settings.THROTTLES[limit] if of_study is None else of_study


def hours_code(study: Study, *, at: datetime) -> str:
    """It follows from the study and the hour, so it is kept nowhere."""
    text = f"{study.join_token}\n{hour_of(at).isoformat()}"
    digest = salted_hmac("annotation.hours_code", text, algorithm="sha256").digest()
    return shown_code("".join(LETTERS[byte % len(LETTERS)] for byte in digest[:8]))


class Crowd:
    """Who joined a study from this address in this hour, as a number."""

    def __init__(self, request: HttpRequest, study: Study) -> None:
        self.study = study
        self.limit, self.most = limit_of(study)
        self.who = f"{study.pk} {throttles.address_of(request)}"

    @property
    def is_full(self) -> bool:
        return bool(self.most) and throttles.counted(self.limit, self.who) >= self.most

    def enters(self) -> bool:
        """Takes somebody in, if there is room."""
        if not self.most or throttles.count(self.limit, self.who) <= self.most:
            return True
        throttles.count(self.limit, self.who, by=-1)
        return False

    def lets_in(self, typed: str, *, at: datetime) -> bool:
        """Whether the hour's code was typed, while not too many were guessed. That of the hour
        before holds too: whoever hands it out needs no watch."""
        codes = [hours_code(self.study, at=moment) for moment in (at, at - HOUR)]
        typed, right = letters_of(typed), [letters_of(code) for code in codes]
        may_guess = not throttles.seconds_to_wait(WRONG_CODES, self.who)
        return may_guess and any(constant_time_compare(typed, code) for code in right)
