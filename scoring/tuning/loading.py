"""Models and tokenizers from a folder of the user's, or by a hub's name."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any

import torch
import transformers

from annotation.models.errors import BadInput

WEIGHTS = ("*.safetensors", "*.bin", "config.json")
CHUNK = 2**20


@dataclass(frozen=True)
class Source:
    """Where a model comes from; code that lies beside its weights is never run."""

    place: str
    # A checkpoint whose weights replace those of the place; see `read_checkpoint`.
    checkpoint: Path | None
    device: str

    @cached_property
    def config(self) -> Any:
        folder = Path(self.place)
        if folder.is_absolute() and not folder.is_dir():
            raise BadInput(f"There is no folder {self.place}.")
        if folder.is_dir() and not (folder / "config.json").is_file():
            raise BadInput(
                f"{self.place} has no config.json: give the folder that transformers saved."
            )
        try:
            return transformers.AutoConfig.from_pretrained(self.place)
        except (OSError, ValueError, KeyError) as error:
            raise BadInput(
                f"{self.place} is neither a folder with a model that transformers reads nor the "
                f"name of one that can be fetched: {_first_line(error)}"
            ) from error

    @cached_property
    def tokenizer(self) -> Any:
        try:
            return transformers.AutoTokenizer.from_pretrained(self.place)
        except (OSError, ValueError, KeyError, ImportError) as error:
            raise BadInput(f"{self.place} has no usable tokenizer: {_first_line(error)}") from error

    def model(self, family: Any, *, seed: int, **options: Any) -> Any:
        """A fresh copy of the weights, under a head of the family (an AutoModelFor…), whose new
        weights follow the seed."""
        torch.manual_seed(seed)
        try:
            model = family.from_pretrained(self.place, **options)
        except (OSError, ValueError, KeyError) as error:
            raise BadInput(f"{self.place} cannot be loaded: {_first_line(error)}") from error
        if self.checkpoint is not None:
            load_checkpoint(model, self.checkpoint)
        return model.to(self.device)

    @cached_property
    def parameters(self) -> str:
        """Their number, such as 110M, without a head."""
        with torch.device("meta"):
            model = transformers.AutoModel.from_config(self.config)
        count = sum(parameter.numel() for parameter in model.parameters())
        return f"{count / 1e6:.0f}M" if count >= 10_000_000 else f"{count / 1e6:.1f}M"

    @cached_property
    def fingerprint(self) -> str:
        """Of the weights, or the commit of a hub's model: the same name may hold other weights."""
        digest = sha256()
        for file in self._files():
            with file.open("rb") as opened:
                while chunk := opened.read(CHUNK):
                    digest.update(chunk)
        if not Path(self.place).is_dir():
            digest.update(str(getattr(self.config, "_commit_hash", "")).encode())
        return digest.hexdigest()

    def _files(self) -> Iterator[Path]:
        folder = Path(self.place)
        if folder.is_dir():
            for pattern in WEIGHTS:
                yield from sorted(folder.glob(pattern))
        if self.checkpoint is not None:
            yield self.checkpoint


def load_checkpoint(model: Any, path: Path) -> None:
    """Weights as PyTorch Lightning saves them, such as UniFewMeta's: `state_dict`, with `model.`
    before every name. Nothing but tensors and plain values is unpickled."""
    try:
        held = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # torch raises many kinds for a bad file
        raise BadInput(
            f"{path} cannot be read as weights alone ({_first_line(error)}): save its state_dict "
            "by itself, as docs/how-to/models.md shows."
        ) from error
    state = held.get("state_dict", held) if isinstance(held, dict) else {}
    state = {str(name).removeprefix("model."): value for name, value in state.items()}
    unknown = set(state) - set(model.state_dict())
    missing = {name for name, _ in model.named_parameters()} - set(state)
    if unknown or missing:
        name = min(unknown or missing)
        raise BadInput(f"{path} does not fit the model: {name} is in one of the two only.")
    model.load_state_dict(state, strict=False)


def pick_device(wanted: str) -> str:
    """The accelerator where there is one, unless another device is wanted."""
    if wanted != "auto":
        if wanted.startswith("cuda") and not torch.cuda.is_available():
            raise BadInput("There is no CUDA device: leave --device out, or say cpu.")
        return wanted
    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"


def versions() -> dict[str, str]:
    return {"torch": str(torch.__version__), "transformers": transformers.__version__}


def _first_line(error: BaseException) -> str:
    return next(iter(str(error).strip().splitlines()), type(error).__name__)
