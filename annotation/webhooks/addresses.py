"""The addresses that a study tells what happens: made and removed, and looked up when they are
told, so that no name leads into the network of the installation."""

import socket
from ipaddress import IPv6Address, ip_address
from secrets import token_urlsafe
from urllib.parse import SplitResult, urlsplit

from django.conf import settings
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction

from annotation.models import ChangeAction, Study, Webhook
from annotation.models.access import record
from annotation.models.errors import BadInput, Refusal

MOST = 5
PRIVATE = "leads to an address that is not public: the operator's PRIVATE_WEBHOOKS would allow it"


def parts_of(url: str) -> SplitResult:
    """Raises BadInput for what is no address by https."""
    try:
        parts = urlsplit(url)
        is_one = bool(parts.scheme == "https" and parts.hostname and parts.port != 0)
    except ValueError:
        is_one = False
    if not is_one or parts.username or not url.isascii() or not url.isprintable() or " " in url:
        raise BadInput(
            "Give an address by https, such as https://example.org/hook, without a name in it."
        )
    return parts


def look_up(parts: SplitResult) -> str:
    """The number to connect to, as the name leads to it now. Raises Refusal if there is none, or
    one that is not public."""
    try:
        infos = socket.getaddrinfo(parts.hostname, parts.port or 443, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise Refusal(f"{parts.hostname} is not known.") from error
    numbers = [str(place[0]) for *_, place in infos]
    if not settings.PRIVATE_WEBHOOKS and not all(map(_is_public, numbers)):
        raise Refusal(f"{parts.hostname} {PRIVATE}.")
    return numbers[0]


def _is_public(number: str) -> bool:
    address = ip_address(number.partition("%")[0])
    if isinstance(address, IPv6Address):
        address = address.ipv4_mapped or address.sixtofour or address
    return address.is_global and not address.is_multicast


def add_webhook(study: Study, url: str, *, by: User) -> Webhook:
    """Add an address with its secret, which is shown once. Raises BadInput, also where nothing
    could be told."""
    parts = parts_of(url)
    try:
        look_up(parts)
    except Refusal as refusal:
        raise BadInput(str(refusal)) from refusal
    secret = token_urlsafe(32)
    try:
        with transaction.atomic():
            list(Study.objects.select_for_update().filter(pk=study.pk))
            if study.webhooks.count() >= MOST:
                raise BadInput(f"A study has at most {MOST} webhooks: remove one first.")
            hook = Webhook.objects.create(study=study, url=url, secret=secret)
            record(by, study, ChangeAction.SETTINGS, {}, {"webhook": parts.hostname})
    except IntegrityError as error:
        raise BadInput("This address is told already: remove it first for a new secret.") from error
    return hook


@transaction.atomic
def remove_webhook(hook: Webhook, *, by: User) -> None:
    """Remove an address, with all that it was still to be told."""
    record(by, hook.study, ChangeAction.SETTINGS, {"webhook": parts_of(hook.url).hostname}, {})
    hook.delete()
