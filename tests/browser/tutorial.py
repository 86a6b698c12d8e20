"""What the tutorial tells, done in a browser on the demonstration, with its pictures."""

import io
import re
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, expect

CONSENT = (
    "You read short reviews and say whether their writer was pleased. We study how well people and "
    "language models do this after a few examples. Your answers are stored under a pseudonym and "
    "may be published without your id. You may stop at any time."
)
COLOURS = 128


def walk(page: Page, address: str, folder: Path) -> None:
    """From the demonstration's table to a rehearsed study of one's own."""
    page.goto(f"{address}/studies/demonstration-finished/comparison/")
    expect(page.locator("figure svg, .picture svg, .figure svg").first).to_be_visible()
    shoot(page, folder / "comparison.png", height=1150)
    add_study(page, address)
    add_batches(page, address, folder)
    page.goto(f"{address}/research/studies/pilot-on-reviews/start/")
    shoot(page, folder / "start.png", height=1100)
    rehearse(page, address, folder)
    page.goto(f"{address}/plan/?aim=budget&budget=150")
    shoot(page, folder / "plan.png", height=1000)


def add_study(page: Page, address: str) -> None:
    page.goto(f"{address}/research/studies/new/")
    page.fill("[name=title]", "Pilot on reviews")
    page.select_option("[name=benchmark]", label="demo")
    page.select_option("[name=channel]", label="Prolific")
    for more in page.locator("details").all():
        more.locator("summary").click()
    page.fill("[name=contact]", "reading-study@example.org")
    page.fill("[name=consent_text]", CONSENT)
    page.fill("[name=min_training_score]", "70")
    page.get_by_role("button", name="Make the draft").click()
    page.wait_for_url("**/settings/")


def add_batches(page: Page, address: str, folder: Path) -> None:
    page.goto(f"{address}/studies/pilot-on-reviews/batches/")
    ticked = page.locator("[name=cells]:checked")
    while ticked.count():
        ticked.first.uncheck()
    page.get_by_label(re.compile(r"^reviews, 10 shots", re.IGNORECASE)).check()
    page.fill("[name=wanted]", "5")
    page.get_by_role("button", name="Show what it needs").click()
    expect(page.get_by_text("Different people, at least")).to_be_visible()
    shoot(page, folder / "batches.png", height=1000)
    page.get_by_role("button", name="Add the batches").click()
    expect(page.get_by_role("link", name="Go on to the start")).to_be_visible()


def rehearse(page: Page, address: str, folder: Path) -> None:
    page.goto(f"{address}/studies/pilot-on-reviews/rehearsals/")
    page.get_by_role("button", name="Rehearse the study").click()
    expect(page.get_by_text("The table that would come out")).to_be_visible(timeout=300_000)
    shoot(page, folder / "rehearsal.png", height=1000)


def shoot(page: Page, file: Path, *, height: int) -> None:
    page.set_viewport_size({"width": 1280, "height": height})
    page.evaluate("window.scrollTo(0, 0)")
    picture = Image.open(io.BytesIO(page.screenshot(animations="disabled", caret="hide")))
    file.parent.mkdir(parents=True, exist_ok=True)
    small = picture.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
    small.save(file, optimize=True)
