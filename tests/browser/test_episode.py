"""A whole episode of FLEX, done in a browser."""

import pytest
from playwright.sync_api import expect

from annotation.models import Assignment, Judgement, Outcome, Role
from scoring.core.episodes import EpisodeRules
from tests.annotation.benchmarks.sampled import sampled_task, study_of
from tests.browser.person import KEYBOARD, MOUSE, Person

pytestmark = pytest.mark.django_db(transaction=True)

SHORT = EpisodeRules(few_shot=1, zero_shot=1, most_test=2, most_shots=2)


@pytest.mark.parametrize(("number", "by"), [(1, MOUSE), (2, KEYBOARD)])
def test_works_through_an_episode_with_and_without_training(
    person: Person, number: int, by: str
) -> None:
    batch = study_of(sampled_task(rules=SHORT), [number]).batches.get()
    training = batch.training_set.items.count() if batch.training_set else 0
    tests = batch.test_set.items.count()
    person.start(batch)
    offered = person.page.locator(".option-text").all_inner_texts()
    assert offered == batch.test_set.choices
    for _ in range(training):
        person.answers_right(by)
        person.goes_on(by)
        expect(person.page.locator("[data-panel]")).to_have_attribute("data-panel", "reveal")
        person.goes_on(by)
    if training:
        expect(person.page.locator("[data-panel]")).to_have_attribute("data-panel", "practice-done")
        person.goes_on(by)
    for place in range(tests):
        person.answers_right(by)
        if place < tests - 1:
            person.goes_on(by)
        else:
            person.sends(by)
    expect(person.page.get_by_text("CODE-COMPLETED")).to_be_visible()
    assignment = Assignment.objects.get()
    assert assignment.outcome == Outcome.COMPLETED
    assert Judgement.objects.filter(role=Role.TRAINING).count() == training
    assert Judgement.objects.filter(role=Role.TEST).count() == tests
    assert person.problems == []
