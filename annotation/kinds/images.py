"""Images beside a text, within the page: no address names an example, and none is asked for."""

from base64 import b64encode
from functools import lru_cache

from django import template

from annotation.models import Image

register = template.Library()


@register.filter
@lru_cache(maxsize=16)
def image_data(checksum: str) -> str:
    """What an img element shows; empty where there is no such image."""
    image = Image.objects.filter(checksum=checksum).first()
    if image is None:
        return ""
    return f"data:{image.media_type};base64,{b64encode(image.data).decode()}"
