"""What a phone has to load, compressed as a server sends it."""

import gzip

import pytest
from playwright.sync_api import Response

from annotation.models import Kind
from tests import make
from tests.browser.person import Person
from tests.every import every

pytestmark = pytest.mark.django_db(transaction=True)

FIRST_LOAD, STEP = 60_000, 5_000


def weighed(person: Person) -> list[tuple[str, int]]:
    """From now on, every response's address and compressed size."""
    sizes: list[tuple[str, int]] = []

    def weigh(response: Response) -> None:
        if response.status == 200:
            sizes.append((response.url, len(gzip.compress(response.body(), 6))))

    person.page.on("response", weigh)
    return sizes


@pytest.mark.parametrize("kind", Kind.values)
def test_is_light_at_first_and_lighter_at_every_step(person: Person, kind: str) -> None:
    batch = make.running_batch(kind=kind, training=1, tests=1)
    person.enter(batch)
    person.page.context.new_cdp_session(person.page).send("Network.clearBrowserCache")
    loaded = weighed(person)
    person.page.reload(wait_until="networkidle")
    assert {url.rpartition(".")[2] for url, _ in loaded} >= {"css", "js"}
    assert sum(size for _, size in loaded) < FIRST_LOAD
    del loaded[:]
    for _ in range(4):
        if person.panel == "answer":
            person.answers_right()
        person.goes_on()
    assert person.panel == "finished"
    # On a busy machine a file of the first page may still come in.
    steps = [size for url, size in loaded if "/static/" not in url]
    assert len(steps) == 4
    assert every(size < STEP for size in steps)
