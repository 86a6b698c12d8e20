"""Connecting a study: off until a token is set, its draft there, its group, its reports."""

from decimal import Decimal

import pytest

from annotation.models import Batch, ProlificStudy
from annotation.models.errors import BadInput
from annotation.prolific import connecting
from annotation.prolific.connecting import Declined, Lost
from annotation.studies.codes import codes_to_set_up
from tests import make
from tests.annotation.prolific.standin import TOKEN, StandIn

pytestmark = pytest.mark.django_db
LINK = "https://study.example.org/join/x/?PROLIFIC_PID={{%PROLIFIC_PID%}}"


@pytest.fixture
def fresh(connection: ProlificStudy) -> ProlificStudy:
    connection.remote_id = connection.webhook_secret = ""
    connection.save()
    return connection


def test_sends_nothing_without_a_token(prolific: StandIn, batch: Batch) -> None:
    connection = connecting.connection_of(batch.study)
    with pytest.raises(BadInput, match="No token"):
        connecting.draft_study(connection, link=LINK)
    assert prolific.asked == []


def test_makes_the_draft_with_every_code_and_its_action(
    prolific: StandIn, fresh: ProlificStudy
) -> None:
    connecting.draft_study(fresh, link=LINK)
    [body] = prolific.studies
    assert (body["reward"], body["total_available_places"]) == (200, 5)
    assert body["external_study_url"] == LINK
    actions = {
        code["code"]: [action["action"] for action in code["actions"]]
        for code in body["completion_codes"]
    }
    assert actions["CODE-COMPLETED"] == ["MANUALLY_REVIEW"]
    assert actions["CODE-SCREENED_OUT"] == ["FIXED_SCREEN_OUT_PAYMENT"]
    others = {"WITHDRAWN", "EXPIRED", "DISPLACED", "DECLINED", "FULL"}
    assert {actions[f"CODE-{name}"][0] for name in others} == {"REQUEST_RETURN"}
    assert len(actions) == 7
    assert ProlificStudy.objects.get().remote_id == "study-1"


@pytest.mark.parametrize("reward", [0, Decimal("0.50")])
def test_says_of_every_code_what_the_draft_says(
    prolific: StandIn, fresh: ProlificStudy, reward: Decimal
) -> None:
    study = fresh.study
    study.outcome_rules.filter(outcome="screened_out").update(platform_pays=reward)
    connecting.draft_study(fresh, link=LINK)
    [body] = prolific.studies
    words = {
        "MANUALLY_REVIEW": "Review by hand",
        "REQUEST_RETURN": "Request a return",
        "FIXED_SCREEN_OUT_PAYMENT": "Screen out",
    }
    told = {code["code"]: code["action"] for code in codes_to_set_up(study)}
    assert len(body["completion_codes"]) == len(told) == 7
    for code in body["completion_codes"]:
        assert told[code["code"]].startswith(words[code["actions"][0]["action"]])


def test_makes_no_second_draft(prolific: StandIn, fresh: ProlificStudy) -> None:
    connecting.draft_study(fresh, link=LINK)
    with pytest.raises(BadInput, match="already"):
        connecting.draft_study(fresh, link=LINK)
    assert len(prolific.studies) == 1


def test_asks_for_the_reward_first(prolific: StandIn, fresh: ProlificStudy) -> None:
    fresh.study.outcome_rules.update(platform_pays=0)
    with pytest.raises(BadInput, match="reward"):
        connecting.draft_study(fresh, link=LINK)
    assert prolific.asked == []


def test_leaves_out_whoever_has_worked_on_these_tasks(
    prolific: StandIn, fresh: ProlificStudy, batch: Batch
) -> None:
    make.joined(batch, who=make.annotator("prolific", "person-1"))
    make.joined(make.running_batch(via="prolific"), who=make.annotator("prolific", "person-2"))
    assert connecting.block_repeats(fresh) == 1
    assert prolific.groups == {"group-1": ["person-1"]}
    make.joined(batch, who=make.annotator("prolific", "person-3"))
    assert connecting.block_repeats(fresh) == 2
    assert prolific.groups == {"group-1": ["person-1", "person-3"]}
    connecting.draft_study(fresh, link=LINK)
    body = prolific.studies[0]
    assert body["filters"] == [
        {"filter_id": "participant_group_blocklist", "selected_values": ["group-1"]}
    ]
    completed = next(c for c in body["completion_codes"] if c["code"] == "CODE-COMPLETED")
    assert completed["actions"][1] == {
        "action": "ADD_TO_PARTICIPANT_GROUP",
        "participant_group": "group-1",
    }


def test_has_changes_reported_and_confirms(prolific: StandIn, fresh: ProlificStudy) -> None:
    connecting.subscribe(fresh, target_url="https://study.example.org/prolific/x/")
    [subscription] = prolific.subscriptions.values()
    assert subscription["is_enabled"]
    assert subscription["event_type"] == "submission.status.change"
    assert ProlificStudy.objects.get().webhook_secret == "hook-secret"


def test_asks_for_no_reports_that_cannot_arrive(prolific: StandIn, fresh: ProlificStudy) -> None:
    with pytest.raises(BadInput, match="https"):
        connecting.subscribe(fresh, target_url="http://127.0.0.1:8000/prolific/x/")
    assert prolific.asked == []


def test_shares_the_secret_of_a_workspace(
    prolific: StandIn, fresh: ProlificStudy, batch: Batch
) -> None:
    """Making another would end the one that another study's reports are signed with."""
    other = make.running_batch(via="prolific").study
    ProlificStudy.objects.create(study=other, workspace_id="workspace", webhook_secret="theirs")
    connecting.subscribe(fresh, target_url="https://study.example.org/prolific/x/")
    assert fresh.webhook_secret == "theirs"
    assert not any("secrets" in asked for asked in prolific.asked)


def test_passes_on_prolifics_own_sentence(prolific: StandIn, fresh: ProlificStudy) -> None:
    prolific.declines = "studies"
    with pytest.raises(Declined, match="Not like this"):
        connecting.draft_study(fresh, link=LINK)


def test_tells_a_lost_answer_from_a_refusal(prolific: StandIn, fresh: ProlificStudy) -> None:
    prolific.loses = "studies"
    with pytest.raises(Lost):
        connecting.draft_study(fresh, link=LINK)


def test_the_log_holds_no_secret(fresh: ProlificStudy) -> None:
    given = {name: getattr(fresh, name) for name in connecting.SETTINGS}
    given |= {"token": "another-token", "webhook_secret": "another-secret"}
    connecting.configure(fresh, given, by=None)
    logged = str(list(fresh.study.changes.values()))
    assert "'token': 'set'" in logged
    assert not any(secret in logged for secret in ("another", TOKEN))
