"""Small models made from nothing, on which tuning is tried.

A text-to-text model first learns to copy, then to find the invented names of one kind in
generated sentences, then to tell the kinds apart. The questions have the form of the
demonstration's; none of its sentences is among those that are generated.

The learner is asked for the kinds in words that were made up for it, and the demonstration's words
it has never met: which kind each of them means, it has to learn from shots.
"""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import torch
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from transformers import (
    BertConfig,
    BertForMaskedLM,
    GPT2Config,
    GPT2LMHeadModel,
    PreTrainedTokenizerFast,
    T5Config,
    T5ForConditionalGeneration,
)

from tests.generated_sentences import IN_ENGLISH, UNMET, Generated, Pair, Words, made_up_words

Batch = tuple[Any, Any, Any]


def make_text_to_text(folder: Path) -> None:
    """Of random weights, about 450 thousand."""
    _make(folder, IN_ENGLISH, [], 0, 0, 0)


def make_learner(folder: Path) -> None:
    words = made_up_words()
    _make(folder, words, [*words.made_up, *UNMET], 1_000, 9_000, 5_000)


def _make(
    folder: Path, words: Words, whole: Sequence[str], copying: int, finding: int, telling: int
) -> None:
    """By so many steps of each. The words that are `whole` are tokens of their own."""
    torch.manual_seed(0)
    torch.set_num_threads(1)  # more wait for one another longer than they work
    generated = Generated(1, words)
    pairs, triples = generated.pairs(), generated.triples()
    texts = (" ".join(next(pairs)) for _ in range(4_000))
    tokenizer = _tokenizer(texts, ["<pad>", "</s>", "<unk>"], "$A </s>", size=800)
    made = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="<pad>", eos_token="</s>", unk_token="<unk>"
    )
    pieces = len(made)
    made.add_tokens(
        [AddedToken(word, lstrip=True, single_word=True, normalized=False) for word in whole]
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
    _train(model, lambda: _to_copy(pieces), steps=copying, learning_rate=3e-3)
    _train(model, lambda: _to_find(made, pairs, 16), steps=finding, learning_rate=2e-3)
    _train(model, lambda: _to_find(made, triples, 24), steps=telling, learning_rate=2e-3)
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


def make_causal(folder: Path) -> None:
    """A decoder of random weights, so large that its options differ much."""
    torch.manual_seed(0)
    pairs = Generated(1).pairs()
    words = (" ".join(next(pairs)) for _ in range(500))
    tokenizer = _tokenizer(words, ["<|endoftext|>"], "$A")
    made = PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<|endoftext|>")
    config = GPT2Config(
        vocab_size=len(made),
        n_positions=4_096,
        n_embd=32,
        n_layer=2,
        n_head=2,
        initializer_range=0.3,
        bos_token_id=0,
        eos_token_id=0,
    )
    GPT2LMHeadModel(config).save_pretrained(folder)
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
