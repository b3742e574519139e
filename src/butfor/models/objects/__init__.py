"""Models of other libraries, seen as classifiers: recognised by the names of their classes."""

from butfor.models.objects.base import AdaptedModel
from butfor.models.objects.boosters import NativeBooster
from butfor.models.objects.encoders import encoded
from butfor.models.objects.hugging_face import tokens_of
from butfor.models.objects.recognition import adapted, unwrapped

__all__ = ["AdaptedModel", "NativeBooster", "adapted", "encoded", "tokens_of", "unwrapped"]
