"""How the user's model is called: in pieces, several at a time, again after a failure, or from a cache."""

from butfor.models.calling.caller import Caller
from butfor.models.calling.calls import Calls

__all__ = ["Caller", "Calls"]
