import signal
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError
from django.template.defaultfilters import pluralize

from annotation.access.rights import find_owner
from annotation.jobs.queue import now_and_then
from annotation.management.arguments import RefusingCommand, add_owner
from scoring.asking.asked_runs import FORMATS, KEY_OF_ENDPOINT, Line, ModelSettings, Prompts
from scoring.asking.asking import Tally, as_text, ask_model, estimate
from scoring.asking.ranking import TEXT, WAYS
from scoring.management.arguments import add_subject, find_subject
from scoring.prompts.formats import templates_for

# Between two lines about how far it is.
EVERY_S = 5.0
STOPPED = 128 + signal.SIGINT  # as a shell has it
# Settings of the model, whose defaults are its own.
NUMBERS = {
    "temperature": None,
    "seed": "for the order of the shots, and for the model",
    "max_tokens": "longest answer",
    "connections": "how many at the same time",
    "retries": "of a request that failed",
}


class Command(RefusingCommand):
    help = (
        "Shows a model the prompts of export_prompts, by Inspect AI, and stores its answers as "
        "runs beside the people, with all that it wrote. Adds runs with their predictions, and "
        "changes no complete ones; stopped and started again with the same options, it asks only "
        "what is missing. Keys come from the environment (OPENAI_API_KEY, ANTHROPIC_API_KEY, …; "
        f"{KEY_OF_ENDPOINT} with --base-url) and are not stored."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        add = parser.add_argument
        add("model", help="as Inspect names it (openai/…), or as the endpoint of --base-url does")
        add("--format", choices=FORMATS, default="icl")
        add("--templates", type=Path, metavar="FILE", help="UniFew's wording, for --format unifew")
        dry = "print the first prompts, how many, tokens and cost; ask and store nothing"
        add("--dry-run", action="store_true", help=dry)
        add_owner(parser)
        add_subject(parser)
        about = parser.add_argument_group("about the model").add_argument
        about("--system", default="", metavar="NAME", help="what it is called (default: MODEL)")
        about("--base-url", default="", metavar="URL", help="an OpenAI-compatible one")
        plain = "with --base-url: the prompt as it is, without a chat template, as base models take"
        about("--completions", action="store_true", help=plain)
        ranked = "what a choice is: the option that it writes, or the likeliest one (default: text)"
        about("--answers", choices=WAYS, default=TEXT, help=ranked)
        thinks = "it is told to think step by step first, and its last answer is read"
        about("--reasoning", action="store_true", help=thinks)
        for name, meaning in NUMBERS.items():
            default = getattr(ModelSettings, name)
            about(f"--{name.replace('_', '-')}", type=type(default), default=default, help=meaning)
        about("--cache", action="store_true", help="use Inspect's cache of answers")
        prices = "USD for a million tokens of each"
        about("--prices", type=float, nargs=2, metavar=("READ", "WRITTEN"), help=prices)
        about("--budget", type=float, metavar="USD", help="ask no more once it would cost more")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            form, settings = options["format"], ModelSettings.of(options)
            subject = find_subject(options)
            prompts = Prompts(subject, form, templates_for(form, options["templates"]))
            owner, limit = find_owner(options["owner"]), options["limit"]
            if options["dry_run"]:
                self._show(*estimate(prompts, settings, owner=owner, limit=limit))
                return
            tell = now_and_then(
                lambda tally, at: self.stderr.write(f"{at}: {tally.in_words(settings)}"), EVERY_S
            )
            tally = ask_model(prompts, settings, owner=owner, limit=limit, tell=tell)
        except KeyboardInterrupt as stop:
            raise CommandError(
                "Stopped. What was answered is stored; the same command asks the rest.",
                returncode=STOPPED,
            ) from stop
        self._report(tally, settings)

    def _show(self, sentences: list[str], first: dict[str, Line]) -> None:
        for task, line in first.items():
            self.stdout.write(f"--- the first prompt of {task}, {line['id']}\n{as_text(line)}")
        self.stdout.write("\n".join(["---", *sentences]))

    def _report(self, tally: Tally, settings: ModelSettings) -> None:
        for imported in tally.runs:
            self.stdout.write(imported.in_words())
            for line in imported.notes:
                self.stdout.write(f"  {line}")
        self.stdout.write(tally.in_words(settings))
        if tally.unfinished:
            missing = sum(len(asked.missing) for asked in tally.unfinished)
            runs = "; ".join(asked.in_words for asked in tally.unfinished)
            reasons = (f"\n  {count} ×: {why}" for why, count in tally.failures.most_common(3))
            raise CommandError(
                f"{missing} prompt{pluralize(missing)} got no answer, so these runs are not "
                f"complete: {runs}. The same command asks them again.{''.join(reasons)}"
            )
