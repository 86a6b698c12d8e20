"""What is called what: of every state that a comparison of people with a system may be in, its sign
and its words, from the side of people."""

from collections.abc import Sequence

from scoring.contrasts.difference import Difference
from scoring.core.verdicts import AHEAD, BEHIND, OPEN, PROBABLE, SAME, SURE, TOO_FEW
from scoring.tables.words import counted, listed

State = tuple[str, str | None]
# In the order in which they are told: the sign, who is ahead, and a sentence of systems.
STATES: dict[State, tuple[str, str, str]] = {
    (AHEAD, SURE): ("▲", "people ahead", "{People} beat {systems}."),
    (AHEAD, PROBABLE): ("△", "people ahead", "{People} probably beat {systems}."),
    (BEHIND, SURE): ("▼", "people behind", "{systems} beat{s} {people}."),
    (BEHIND, PROBABLE): ("▽", "people behind", "{systems} probably beat{s} {people}."),
    (SAME, SURE): ("≈", "as good", "{People} and {systems} are equally good{margin}."),
    (SAME, PROBABLE): ("~", "as good", "{People} and {systems} are probably equally good{margin}."),
    (OPEN, None): (
        *("?", "open"),
        "{People} and {systems} are too close to call: either may be ahead.",
    ),
    (TOO_FEW, None): ("", "too few people", ""),
}
# What is said otherwise of several systems.
SEVERAL: dict[State, str] = {
    (SAME, SURE): "{People} and each of {systems} are equally good{margin}.",
    (SAME, PROBABLE): "{People} and each of {systems} are probably equally good{margin}.",
    (OPEN, None): "Too close to call: {people} and each of {systems}.",
}
# Open, though the interval leaves out 0: the margin it does not leave out.
LEANING: dict[State, tuple[str, str]] = {
    (OPEN, AHEAD): (
        "people seem ahead",
        "{People} seem ahead of {systems}, maybe by less than {points}.",
    ),
    (OPEN, BEHIND): (
        "people seem behind",
        "{systems} seem{s} ahead of {people}, maybe by less than {points}.",
    ),
}
DECIDED: list[State] = [(one, how) for how in (SURE, PROBABLE) for one in (AHEAD, SAME, BEHIND)]
LEGEND = {
    STATES[state][0]: ", ".join(filter(None, [STATES[state][1], state[1]]))
    for state in [*DECIDED, (OPEN, None)]
}


def state_of(test: Difference) -> State:
    return test.outcome, test.certainty


def claimed_state(test: Difference) -> State:
    """The state as the answer tells it: of what is open, to which side it leans."""
    low, high = test.low, test.high
    if test.outcome != OPEN or low is None or high is None or low <= 0 <= high:
        return state_of(test)
    return OPEN, AHEAD if low > 0 else BEHIND


def by_chance(comparisons: int) -> str:
    """How many of so many are probable where nothing differs: one in twenty."""
    about = max(1, round(comparisons / 20))
    return (
        f"if there were no difference anywhere, about {'one' if about == 1 else about} of "
        f"{max(20, comparisons)} such comparisons would come out so by chance"
    )


def sign_of(test: Difference | None) -> str:
    """The sign of what was tested; empty without a test."""
    return STATES[state_of(test)][0] if test and test.p is not None else ""


def verdict_in_words(test: Difference) -> str:
    """Write the verdict, such as “people ahead, sure”."""
    return _named(test, ", ".join(filter(None, [STATES[state_of(test)][1], test.certainty])))


def leaning_in_words(test: Difference) -> str:
    """The verdict; of one that is open, to which side it leans."""
    leaning = LEANING.get(claimed_state(test))
    return _named(test, f"open, {leaning[0]}") if leaning else verdict_in_words(test)


def without_disputed(items: int, was: State, state: State | None) -> str:
    """What becomes of a verdict without so many items whose gold people dispute. state: None where
    fewer than ten others are left."""
    without = f"without the {counted(items, 'disputed item')}"
    if was[0] == TOO_FEW:
        return ""
    if state is None:
        return f"fewer than ten items are left {without}"
    if state == was:
        return f"holds {without}"
    words = ", ".join(filter(None, [STATES[state][1], state[1]]))
    return f"{'falls ' if state[0] == OPEN else ''}{without}: {words}"


def _named(test: Difference, words: str) -> str:
    return words.replace("people", "SIMULATED PEOPLE") if test.simulated else words


def claim(state: State, systems: Sequence[str], *, simulated: bool, margin: float | None) -> str:
    """What is said of these systems together; nothing of too few people."""
    words = {
        "People": "People",
        "people": "people",
        "systems": listed(systems),
        "s": "s" if len(systems) == 1 else "",
        "margin": f" within {margin:g} points" if margin else "",
        "points": f"{margin or 0:g} points",
    }
    if simulated:
        words |= dict.fromkeys(("People", "people"), "SIMULATED PEOPLE")
    sentence = LEANING[state][1] if state in LEANING else STATES[state][2]
    if len(systems) > 1:
        sentence = SEVERAL.get(state, sentence)
    return sentence.format(**words)
