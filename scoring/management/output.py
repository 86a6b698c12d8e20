"""Where a command writes a document: to a file, or alone to stdout."""

from pathlib import Path

from django.core.management.base import BaseCommand, CommandError


def put_document(command: BaseCommand, document: bytes, file: Path | None) -> None:
    if file is None:
        _print(command, document)
        return
    try:
        file.write_bytes(document)
    except OSError as error:
        raise CommandError(f"Cannot write {file}: {error.strerror}.") from error
    command.stderr.write(f"Written: {file}")


def _print(command: BaseCommand, document: bytes) -> None:
    raw = getattr(command.stdout, "buffer", None)
    if raw is not None:  # a workbook is bytes
        raw.write(document)
        raw.flush()
    else:
        command.stdout.write(document.decode(), ending="")
