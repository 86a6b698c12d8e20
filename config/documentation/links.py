"""Links from pages to what explains their words."""

from django import template
from django.conf import settings
from django.urls import reverse

from config.documentation.pages import address

register = template.Library()


@register.simple_tag
def docs(page: str) -> str:
    """The address of a page, as in {% docs "explained/figures#verdicts" %}: the installation's own,
    or where DOCS_URL says that the site is."""
    name, hash_sign, anchor = page.partition("#")
    if settings.DOCS_URL:
        return f"{settings.DOCS_URL}/{name}.html{hash_sign}{anchor}"
    return reverse("documentation") + address(f"{name}.md{hash_sign}{anchor}")
