"""Small models made from nothing, on which tuning is tried.

The text-to-text model first learns to copy, then to find the invented names of one kind in
generated sentences. Neither the sentences nor the questions are those of a benchmark: what is
meant by a question there, it must learn from the shots.

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
    "tho to tor tri u ul va val ven vi vo vos wa wel wil yor za zel"
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
TITLES = ("Mr", "Dr", "the painter", "the singer", "the judge", "Captain", "Professor", "her aunt")
VERBS = ("said", "wrote", "was", "has", "told", "won", "left", "met", "lived", "built", "will")
BODIES = _listed(
    "Museum Airways Council Society Bank Police University College Orchestra United Rovers "
    "Railways Party Post Times Hospital Club Institute Foods Union Press Academy Choir Theatre "
    "Works Brothers Group Office Company Motors"
)
BEFORE_PLACES = ("in", "at", "from", "to", "near", "north of", "between", "towards", "outside")
PLACES = (
    *("{}", "{}", "{}", "{}", "Port {}", "Lake {}", "Mount {}", "{} Bay", "{} Street"),
    *("{} Island", "River {}", "Upper {}", "{} Bridge", "Cape {}"),
)
FIELDS = ("Coastal Trade", "Royal Arts", "Natural History", "Public Works", "Health")
# Capitals that begin no name.
CAPITALS = ("Monday", "Friday", "March", "June", "October", "French", "Danish", "I", "I")
ASKED = (
    "Find each {} here:",
    "Give every {} of this text.",
    "Which {} are named?",
    "The {}, please:",
)
QUESTIONS = {
    "person": ("human being", "man or woman", "person", "somebody"),
    "body": ("company or club", "firm", "institution", "team or office"),
    "place": ("town or land", "place", "spot on the map", "country or street"),
}

# Question and text, and the answer.
Pair = tuple[str, str]
Batch = tuple[Any, Any, Any]


class Generated:
    """Sentences of common words without sense, with invented names in them."""

    def __init__(self, seed: int) -> None:
        self._chance = Random(seed)

    def pairs(self) -> Iterator[Pair]:
        while True:
            text, found = self._sentence()
            wanted = self._chance.choice(list(QUESTIONS))
            if not found[wanted] and any(found.values()) and self._chance.random() < 0.5:
                wanted = self._chance.choice([kind for kind, names in found.items() if names])
            question = self._chance.choice(ASKED).format(self._chance.choice(QUESTIONS[wanted]))
            yield f"{question} {text}", json.dumps(list(dict.fromkeys(found[wanted])))

    def _sentence(self) -> tuple[str, dict[str, list[str]]]:
        chance = self._chance
        found: dict[str, list[str]] = {kind: [] for kind in QUESTIONS}
        count = chance.choice([0, 1, 1, 2, 2, 3])
        parts = self._words(0, 4) if count else self._words(6, 18)
        for _ in range(count):
            kind = chance.choice(list(QUESTIONS))
            name = getattr(self, f"_{kind}")()
            found[kind].append(name)
            parts += [*self._lead_in(kind), name, *self._next_word(kind), *self._words(1, 7)]
        text = " ".join(parts)
        return f"{text[0].upper()}{text[1:]}.", found

    def _lead_in(self, kind: str) -> list[str]:
        chance = self._chance
        if kind == "place":
            return [chance.choice(BEFORE_PLACES)]
        if kind == "body":
            return ["the"] if chance.random() < 0.5 else []
        return [chance.choice(TITLES)] if chance.random() < 0.35 else []

    def _next_word(self, kind: str) -> list[str]:
        is_told = kind == "person" and self._chance.random() < 0.6
        return [self._chance.choice(VERBS)] if is_told else []

    def _person(self) -> str:
        name = f"{self._name()} {self._name()}" if self._chance.random() < 0.8 else self._name()
        return f"{name}-{self._name()}" if self._chance.random() < 0.1 else name

    def _body(self) -> str:
        chance, body = self._chance, self._chance.choice(BODIES)
        if chance.random() < 0.2:
            return f"{body} of {chance.choice(FIELDS)}"
        if chance.random() < 0.15:
            return f"{self._name()} & {chance.choice(['Sons', 'Daughters', 'Co'])}"
        return f"{self._name()} {body}"

    def _place(self) -> str:
        return self._chance.choice(PLACES).format(self._name())

    def _name(self) -> str:
        syllables = (self._chance.choice(SYLLABLES) for _ in range(self._chance.choice([2, 2, 3])))
        return "".join(syllables).capitalize()

    def _words(self, least: int, most: int) -> list[str]:
        words = [self._chance.choice(COMMON) for _ in range(self._chance.randint(least, most))]
        if words and self._chance.random() < 0.15:
            words[-1] = self._chance.choice(CAPITALS)
        if len(words) > 2 and self._chance.random() < 0.15:
            words[-1] += ","
        return words


def make_text_to_text(folder: Path, *, copying: int = 1_200, finding: int = 4_500) -> None:
    """About 400 thousand weights; eight minutes of one core with these steps."""
    torch.manual_seed(0)
    pairs = Generated(1).pairs()
    words = (" ".join(next(pairs)) for _ in range(4_000))
    tokenizer = _tokenizer(words, ["<pad>", "</s>", "<unk>"], "$A </s>")
    made = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="<pad>", eos_token="</s>", unk_token="<unk>"
    )
    model = T5ForConditionalGeneration(
        T5Config(
            vocab_size=len(made),
            d_model=96,
            d_kv=16,
            d_ff=192,
            num_layers=2,
            num_heads=6,
            relative_attention_num_buckets=16,
            relative_attention_max_distance=32,
            dropout_rate=0.0,
            pad_token_id=0,
            eos_token_id=1,
            decoder_start_token_id=0,
        )
    )
    _train(model, lambda: _to_copy(len(made)), steps=copying, learning_rate=3e-3)
    _train(model, lambda: _to_find(made, pairs), steps=finding, learning_rate=2e-3)
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


def _tokenizer(words: Iterator[str], special: list[str], single: str, pair: str = "") -> Tokenizer:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=500,
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


def _to_find(tokenizer: Any, pairs: Iterator[Pair]) -> Batch:
    questions, answers = zip(*(next(pairs) for _ in range(16)), strict=True)
    asked = tokenizer(list(questions), padding=True, return_tensors="pt")
    labels = tokenizer(list(answers), padding=True, return_tensors="pt")["input_ids"]
    return asked["input_ids"], asked["attention_mask"], labels.masked_fill(labels == 0, -100)


if __name__ == "__main__":
    make_text_to_text(Path(sys.argv[1]))
