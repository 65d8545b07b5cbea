"""Publication: a finished run as a release folder that anyone can check and cite.

A release holds the raw observations, the timelines that were sat and the manifest; whatever else is
in it follows from these and is derived again by ``verify``. Derived files of two scorings stand side
by side, each under its number.
"""

from memrot.publish.identity import Identity, identity
from memrot.publish.release import derive, publish, published
from memrot.publish.verify import Report, verify

__all__ = ["Identity", "Report", "derive", "identity", "publish", "published", "verify"]
