"""Sentences of common words without sense, with invented names in them, and questions about the
names in the form of the demonstration's: what small models learn from before they are tuned.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from random import Random


def _listed(words: str) -> list[str]:
    return words.split()


SYLLABLES = _listed(
    "ba be bi bo bra bre bur cal cor da del den do dra dun el em en er fal fen fi ga gar gel go "
    "ha har hol hu il in is ja jo ka kel kin la lan len lo lu mar mel mi mon mor na nel no nor "
    "o ol or pa pel per pin po qui ra rel ri ro ros sa sel sen si sol sta ste ta tar tel tes "
    "tho to tor tri u ul va val ven vi vo vos wa wel wil yor za zel wick ham ford by ley ton berg "
    "th dr str ck mpt"
)
# Of words that are none: a small letter, not a word that one knows, says that it is no name.
PIECES = _listed(
    "cl str pr br sp st gr tr ing ed ly tion er est ment ness ab ex con un re dis ous able al ic "
    "ee oo ou ai ea ow igh ck nd mp ll ss gle ble tle pi ga fo lu mi se ta ro de ki wa ju ve"
)
COMMON = _listed(
    "the a of and to in is was for that it with as his on be at by had not are but from or have "
    "an they which one you were her all she there would their we him been has when who will "
    "more no if out so said what up its about into than them can only other new some could time "
    "these two may then do first any my now such like our over man me even most made after also "
    "did many before must through back years where much your way well down should because each "
    "just those people how too little state good very make world still own see men work long "
    "get here between both life being under never day same another know while last might us "
    "great old year off come since against go came right used take three small large again "
    "house few found school every part place water number night head side often asked later "
    "without during across above far almost always early second opened closed built bought sold "
    "wrote read sang played ran walked lost won began ended moved kept left sent met gave told "
    "called named lived died born grew fell rose held led paid cut set put"
)
TITLES = (
    *("Mr", "Dr", "Sir", "the painter", "the singer", "the judge", "Captain", "Professor"),
    *("her aunt", "the actor", "Judge", "a baker called"),
)
VERBS = (
    *("said", "wrote", "was", "has", "told", "won", "left", "met", "lived", "built", "will", "is"),
    *("and her brother", "who", "which", "refused", "sang", "played", "drew", "died", "leads"),
)
BODIES = _listed(
    "Museum Airways Council Society Bank Police University College Orchestra United Rovers "
    "Railways Party Post Times Hospital Club Institute Foods Union Press Academy Choir Theatre "
    "Works Brothers Group Office Company Motors Athletic Mills Trust League Gallery Laboratory "
    "Agency Ministry Guild"
)
BODIES_OF = _listed(
    "Bank University Museum Society Institute College Academy Board Ministry House Order School"
)
FIELDS = (
    *("Trade", "Arts", "Natural History", "Public Works", "Health", "Coal Miners", "Letters"),
    *("Fine Music", "Roads", "Glass Makers", "Social Reform"),
)
COLOURS = _listed("Golden Silver Green White Black Red Blue Iron Stone Winter Summer Old New Royal")
BEFORE_PLACES = (
    *("in", "at", "from", "to", "near", "north of", "between", "towards", "outside", "off"),
    *("on the road to", "across", "into"),
)
PLACES = (
    *("{}",) * 6,
    *("Port {}", "Lake {}", "Mount {}", "{} Bay", "{} Street", "{} Island", "River {}"),
    *("Upper {}", "{} Bridge", "Cape {}", "{} Square", "{} Road", "Great {}", "North {}"),
    *("{} Hill", "Saint {}"),
)
# Capitals that begin no name of a person, a body or a place.
CAPITALS = (
    *("Monday", "Friday", "Tuesday", "March", "June", "October", "January", "French", "Danish"),
    *("Italian", "I", "Christmas"),
)
THINGS = (
    *("the ferry {}", "the steamer {} {}", "the storm {}", "the {} Prize", "the novel {} {}"),
    *("the film The {} {}", "the Battle of {}", "the {} rose", "a ship named {}", "the horse {}"),
)
# In the form of the demonstration's questions, by its words for the three kinds and by others.
ASKED = (
    *("List all the {} in the context",) * 4,
    "Find all {} here",
    "Which {} are named",
)
KINDS = {
    "person": ("people names", "people", "persons", "human beings", "men and women"),
    "body": ("organizations", "companies", "institutions", "clubs and firms", "bodies"),
    "place": ("locations", "places", "towns and lands", "spots on the map", "streets and towns"),
}
# Of the learner: made-up words for each kind, as many that mean none of them, and how often it is
# asked for one of those, whose answer is an empty list.
WORDS_OF_A_KIND = 6
ASKED_FOR_NOTHING = 0.2
# The demonstration's words, each a token that no generated question holds.
UNMET = ("people names", "organizations", "locations")
LEADS_OF_BODIES = ("at", "for", "of", "by")
AFTER_BODIES = ("has", "will", "said", "was", "is", "built", "sold")

# Question and text, and the answer.
Pair = tuple[str, str]


@dataclass(frozen=True)
class Words:
    """What a model is asked with: `kinds` has the words for each kind, and what `nothing` asks for
    is in no text."""

    asked: Sequence[str]
    kinds: Mapping[str, Sequence[str]]
    nothing: Sequence[str] = ()

    @property
    def made_up(self) -> list[str]:
        return [*chain.from_iterable(self.kinds.values()), *self.nothing]


IN_ENGLISH = Words(ASKED, KINDS)


def made_up_words() -> Words:
    chance = Random(7)
    words: set[str] = set()
    while len(words) < WORDS_OF_A_KIND * (len(KINDS) + 1):
        words.add("".join(chance.choice(SYLLABLES) for _ in range(3)))
    drawn = iter(chance.sample(sorted(words), len(words)))
    kinds = {kind: list(islice(drawn, WORDS_OF_A_KIND)) for kind in KINDS}
    return Words(ASKED[:1], kinds, nothing=list(drawn))


class Generated:
    """Sentences of common words without sense, with invented names in them."""

    def __init__(self, seed: int, words: Words = IN_ENGLISH) -> None:
        self._chance = Random(seed)
        self._asked_with = words

    def pairs(self) -> Iterator[Pair]:
        """A question about each text, more often for a kind of name that stands in it."""
        while True:
            text, found = self._sentence()
            there = [kind for kind, names in found.items() if names]
            kind = self._chance.choice(there if there and self._is(0.6) else list(KINDS))
            yield self._pair(kind, text, found)

    def triples(self) -> Iterator[Pair]:
        """Each text three times, once for each kind: the question alone decides."""
        while True:
            text, found = self._sentence()
            if any(found.values()) or self._is(0.5):
                yield from (self._pair(kind, text, found) for kind in KINDS)

    def _pair(self, kind: str, text: str, found: dict[str, list[str]]) -> Pair:
        asked, names = self._asked_with.kinds[kind], list(dict.fromkeys(found[kind]))
        if self._asked_with.nothing and self._is(ASKED_FOR_NOTHING):
            asked, names = self._asked_with.nothing, []
        question = self._chance.choice(self._asked_with.asked)
        return f"{question.format(self._chance.choice(asked))} {text}", json.dumps(names)

    def _sentence(self) -> tuple[str, dict[str, list[str]]]:
        found: dict[str, list[str]] = {kind: [] for kind in KINDS}
        if self._is(0.05):
            return self._match(found), found
        count = self._chance.choice([0, 1, 1, 1, 2, 2, 3])
        parts = self._words(6, 12)
        if count:
            parts = self._words(0, 5) if self._is(0.65) else []
        elif self._is(0.3):
            parts[3:3] = [self._thing()]
        for _ in range(count):
            parts += self._mention(self._chance.choice(list(KINDS)), found)
        text = " ".join(filter(None, parts)).replace(" ,", ",")
        return f"{text[0].upper()}{text[1:].rstrip(',')}.", found

    def _match(self, found: dict[str, list[str]]) -> str:
        """A team may be called by its town alone."""
        chance, (one, other) = self._chance, (self._name(), self._name())
        found["body"] += [one, other]
        beat = chance.choice(("beat", "drew with", "lost to"))
        score = f"{chance.randint(0, 5)}-{chance.randint(0, 5)}"
        return f"{' '.join([one, beat, other, score, *self._words(0, 5)])}."

    def _mention(self, kind: str, found: dict[str, list[str]]) -> list[str]:
        """A name, or two, with what stands around it."""
        make = {"person": self._person, "body": self._body, "place": self._place}[kind]
        names = [make(), make()] if self._is(0.12) else [make()]
        found[kind] += names
        between = f" {self._chance.choice(('and', 'or'))} "
        parts = [*self._lead_in(kind), between.join(names), *self._next_words(kind)]
        parts += self._words(1, 5)
        if self._is(0.1):
            parts += [self._thing(), *self._words(0, 3)]
        if self._is(0.08):
            parts += ["in", str(self._chance.randint(1100, 2020)), *self._words(0, 2)]
        return parts

    def _lead_in(self, kind: str) -> list[str]:
        chance = self._chance
        if kind == "place":
            return [chance.choice(BEFORE_PLACES)]
        if kind == "body":
            if self._is(0.4):
                return ["the"]
            return [chance.choice(LEADS_OF_BODIES)] if self._is(0.3) else []
        if self._is(0.35):
            return [chance.choice(TITLES)]
        return [chance.choice(("by", "with", "of"))] if self._is(0.2) else []

    def _next_words(self, kind: str) -> list[str]:
        chance, drawn = self._chance, self._chance.random()
        if kind == "place":
            return [","] if drawn < 0.15 else []
        if kind == "body":
            return [chance.choice(AFTER_BODIES)] if drawn < 0.4 else []
        if drawn < 0.55:
            return [chance.choice(VERBS)]
        if drawn < 0.7:
            return [", who"]
        if drawn < 0.75:
            return [f"({chance.randint(1700, 1950)}–{chance.randint(1750, 1999)})"]
        return [", a", *self._words(1, 1)] if drawn < 0.85 else []

    def _person(self) -> str:
        drawn = self._chance.random()
        if drawn < 0.08:
            return self._name()
        if drawn < 0.12:
            return f"{self._name()} of {self._name()}"
        if drawn < 0.14:
            return f"{self._name()} the {self._capital()}"
        name = f"{self._name()} {self._name()}"
        return f"{name}-{self._name()}" if self._is(0.12) else name

    def _body(self) -> str:
        chance, body, drawn = self._chance, self._chance.choice(BODIES), self._chance.random()
        if drawn < 0.12:
            return f"{body} of {chance.choice(FIELDS)}"
        if drawn < 0.25:
            return f"{chance.choice(BODIES_OF)} of {self._name()}"
        if drawn < 0.33:
            return f"{self._name()} & {chance.choice(['Sons', 'Daughters', 'Co', self._name()])}"
        if drawn < 0.4:
            return f"{chance.choice(COLOURS)} {self._no_word().capitalize()}s"
        if drawn < 0.5:
            return f"{self._name()} {chance.choice(FIELDS)} {body}"
        if drawn < 0.58:
            first = chance.choice(["National", "Royal", "Royal", "City", "First"])
            return f"{first} {body} of {chance.choice(FIELDS)}"
        return f"{self._name()} {body}"

    def _place(self) -> str:
        return self._chance.choice(PLACES).format(self._name())

    def _thing(self) -> str:
        """With a name that is none of the three kinds."""
        return self._chance.choice(THINGS).format(self._capital(), self._capital())

    def _name(self) -> str:
        syllables = (self._chance.choice(SYLLABLES) for _ in range(self._chance.choice([2, 2, 3])))
        return "".join(syllables).capitalize()

    def _capital(self) -> str:
        if self._is(0.5):
            return self._name()
        return self._chance.choice(COLOURS) if self._is(0.5) else self._no_word().capitalize()

    def _no_word(self) -> str:
        count = self._chance.choice([1, 2, 2, 3])
        return "".join(
            self._chance.choice(PIECES if self._is(0.7) else SYLLABLES) for _ in range(count)
        )

    def _words(self, least: int, most: int) -> list[str]:
        chance = self._chance
        words = [
            chance.choice(COMMON) if self._is(0.6) else self._no_word()
            for _ in range(chance.randint(least, most))
        ]
        if words and self._is(0.12):
            words[-1] = chance.choice(CAPITALS)
        if len(words) > 2 and self._is(0.15):
            words[-1] += ","
        if words and self._is(0.05):
            words[chance.randrange(len(words))] = str(chance.randint(2, 5000))
        return words

    def _is(self, probability: float) -> bool:
        return self._chance.random() < probability
