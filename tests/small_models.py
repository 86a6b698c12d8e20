"""Small models made from nothing, on which tuning is tried.

The text-to-text model first learns to copy, then to find the invented names of one kind in
generated sentences, then to tell the kinds apart. The questions have the form of the
demonstration's; none of its sentences is among those that are generated.

    python -m tests.small_models FOLDER
"""

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from transformers import (
    BertConfig,
    BertForMaskedLM,
    PreTrainedTokenizerFast,
    T5Config,
    T5ForConditionalGeneration,
)


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
LEADS_OF_BODIES = ("at", "for", "of", "by")
AFTER_BODIES = ("has", "will", "said", "was", "is", "built", "sold")

# Question and text, and the answer.
Pair = tuple[str, str]
Batch = tuple[Any, Any, Any]


class Generated:
    """Sentences of common words without sense, with invented names in them."""

    def __init__(self, seed: int) -> None:
        self._chance = Random(seed)

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
        question = self._chance.choice(ASKED).format(self._chance.choice(KINDS[kind]))
        return f"{question} {text}", json.dumps(list(dict.fromkeys(found[kind])))

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


def make_text_to_text(
    folder: Path, *, copying: int = 1_000, finding: int = 3_000, telling_apart: int = 2_500
) -> None:
    """About 450 thousand weights."""
    torch.manual_seed(0)
    generated = Generated(1)
    pairs, triples = generated.pairs(), generated.triples()
    words = (" ".join(next(pairs)) for _ in range(4_000))
    tokenizer = _tokenizer(words, ["<pad>", "</s>", "<unk>"], "$A </s>", size=800)
    made = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="<pad>", eos_token="</s>", unk_token="<unk>"
    )
    model = T5ForConditionalGeneration(
        T5Config(
            vocab_size=len(made),
            d_model=96,
            d_kv=12,
            d_ff=192,
            num_layers=2,
            num_heads=8,
            relative_attention_num_buckets=16,
            relative_attention_max_distance=32,
            dropout_rate=0.0,
            pad_token_id=0,
            eos_token_id=1,
            decoder_start_token_id=0,
        )
    )
    _train(model, lambda: _to_copy(len(made)), steps=copying, learning_rate=3e-3)
    _train(model, lambda: _to_find(made, pairs, 16), steps=finding, learning_rate=2e-3)
    _train(model, lambda: _to_find(made, triples, 24), steps=telling_apart, learning_rate=2e-3)
    model.save_pretrained(folder)
    made.save_pretrained(folder)


def make_encoder(folder: Path) -> None:
    """A BERT of random weights; its vocabulary has the words that the patterns of tests name."""
    torch.manual_seed(0)
    pairs = Generated(1).pairs()
    words = (" ".join([*next(pairs), "great terrible"]) for _ in range(500))
    special = ["[PAD]", "[CLS]", "[SEP]", "[UNK]", "[MASK]"]
    tokenizer = _tokenizer(words, special, "[CLS] $A [SEP]", "[CLS] $A [SEP] $B:1 [SEP]:1")
    made = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token="[PAD]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        unk_token="[UNK]",
        mask_token="[MASK]",
    )
    config = BertConfig(
        vocab_size=len(made),
        hidden_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=64,
    )
    BertForMaskedLM(config).save_pretrained(folder)
    made.save_pretrained(folder)


def _tokenizer(
    words: Iterator[str], special: list[str], single: str, pair: str = "", *, size: int = 500
) -> Tokenizer:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        special_tokens=special,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(words, trainer)
    tokenizer.post_processor = processors.TemplateProcessing(
        single=single,
        pair=pair or "$A $B",
        special_tokens=[(token, tokenizer.token_to_id(token)) for token in special],
    )
    return tokenizer


def _train(model: Any, batch: Callable[[], Batch], *, steps: int, learning_rate: float) -> None:
    optimizer = torch.optim.AdamW(model.parameters(), lr=learning_rate, weight_decay=0.0)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min(1.0, (step + 1) / 100) * max(0.05, 1 - step / max(steps, 1))
    )
    model.train()
    for _ in range(steps):
        inputs, mask, labels = batch()
        model(input_ids=inputs, attention_mask=mask, labels=labels).loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        optimizer.zero_grad()


def _to_copy(vocabulary: int) -> Batch:
    """Pieces in a row, and the same again: without it, copying takes ten times as long to learn."""
    length = int(torch.randint(4, 13, ()))
    pieces = torch.randint(3, vocabulary, (32, length))
    ended = torch.cat([pieces, torch.ones(32, 1, dtype=torch.long)], dim=1)
    return ended, torch.ones_like(ended), ended


def _to_find(tokenizer: Any, pairs: Iterator[Pair], size: int) -> Batch:
    questions, answers = zip(*(next(pairs) for _ in range(size)), strict=True)
    asked = tokenizer(list(questions), padding=True, return_tensors="pt")
    labels = tokenizer(list(answers), padding=True, return_tensors="pt")["input_ids"]
    return asked["input_ids"], asked["attention_mask"], labels.masked_fill(labels == 0, -100)


if __name__ == "__main__":
    make_text_to_text(Path(sys.argv[1]))
