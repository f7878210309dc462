"""Every error skillmap raises on purpose.

SkillmapError
├── InvalidInputError(ValueError)   the caller passed something unusable
├── ParseError(ValueError)          a source is not in the form we read
├── ContractError                   a table broke its own contract
└── ServiceError                    a service does not do what it is asked for now
"""


class SkillmapError(Exception):
    """Base class, for callers that want to catch all of ours and nothing else."""


class InvalidInputError(SkillmapError, ValueError):
    """An argument is outside what the function is defined for."""


class ParseError(SkillmapError, ValueError):
    """A source could not be read; the message names the place, rule and value."""


class ContractError(SkillmapError):
    """A table does not have the columns, keys or values its contract promises."""


class ServiceError(SkillmapError):
    """A service that is asked as it should be will do no more for now."""
