"""Models of other libraries, seen as classifiers: recognised by the names of their classes, never imported."""

from butfor.models.objects.base import AdaptedModel
from butfor.models.objects.boosters import NativeBooster
from butfor.models.objects.encoders import encoded
from butfor.models.objects.recognition import adapted
from butfor.models.objects.torch_module import TorchModule

__all__ = ["AdaptedModel", "NativeBooster", "TorchModule", "adapted", "encoded"]
