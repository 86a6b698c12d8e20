"""What an item costs the one who answers it: taps, keys, pixels scrolled and words read, for every
kind of work: `make effort`.

It counts in the browser while somebody answers as the gold does, under pytest for the sake of the
live server. Words are those in sight beside the text that is asked about, when an item and when its
gold answer comes. To compare with another commit, run it there too.
"""

from collections import Counter

import pytest
from playwright.sync_api import Browser
from pytest_django.live_server_helper import LiveServer

from tests.browser.batches import WORK, batch_of, works_through
from tests.browser.finger import FingerPerson
from tests.browser.person import KEYBOARD, TOUCH, Person

pytestmark = pytest.mark.django_db(transaction=True)

COUNTS = """() => {
  const add = (name, amount) => window.noteEffort(name, amount);
  const WORDS = "p, li, label, legend, summary, a, button, h1, h2, h3, td, th, [data-verdict]";
  const inSight = (element) => {
    const { top, bottom, height } = element.getBoundingClientRect();
    return height > 2 && element.checkVisibility() && bottom > 0 && top < innerHeight;
  };
  const readsWords = () => {
    const shown = [...document.querySelectorAll(WORDS)]
      .filter((element) => !element.closest(".context") && inSight(element))
      .filter((element) => !element.parentElement.closest(WORDS));
    add("words", shown.map((element) => element.innerText).join(" ").split(/\\s+/).length);
  };
  addEventListener("pointerdown", () => add("taps", 1), true);
  addEventListener("keydown", () => add("keys", 1), true);
  const places = new WeakMap();
  addEventListener("scroll", ({ target }) => {
    const box = target === document ? document.scrollingElement : target;
    add("pixels", Math.abs(box.scrollTop - (places.get(box) || 0)));
    places.set(box, box.scrollTop);
  }, true);
  addEventListener("DOMContentLoaded", () => {
    let last = null;
    const looks = () => {
      const panel = document.querySelector("[data-panel]");
      if (panel && panel !== last) { last = panel; requestAnimationFrame(readsWords); }
    };
    new MutationObserver(looks).observe(document.body, { childList: true, subtree: true });
    looks();
  });
}"""
WAYS = {TOUCH: (390, 844), KEYBOARD: (1280, 800)}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("work", WORK)
def test_what_an_item_costs(browser: Browser, live_server: LiveServer, work: str, way: str) -> None:
    width, height = WAYS[way]
    is_phone = way == TOUCH
    context = browser.new_context(
        viewport={"width": width, "height": height}, has_touch=is_phone, is_mobile=is_phone
    )
    found: Counter[str] = Counter()
    context.expose_function("noteEffort", lambda what, amount: found.update({what: amount}))
    context.add_init_script(f"({COUNTS})()")
    page = context.new_page()
    person = FingerPerson(page, live_server.url, 14) if is_phone else Person(page, live_server.url)
    batch = batch_of(work)
    works_through(person, batch, [way], leaves=way)
    items = batch.assignments.get().judgements.count()
    each = ", ".join(
        f"{found[what] / items:.1f} {what}" for what in ("taps", "keys", "pixels", "words")
    )
    print(f"\n{work}, {way}: {each} an item", end="")  # noqa: T201
    context.close()
