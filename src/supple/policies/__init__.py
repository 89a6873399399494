"""Who is forgotten and who is re-weighted: decisions about examples, without a model in sight."""

from supple.policies.memory import least_relevant, oldest
from supple.policies.support import Past, SupportPolicy

__all__ = ["Past", "SupportPolicy", "least_relevant", "oldest"]
