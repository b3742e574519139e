"""Options from the environment: --max-seconds from BUTFOR_MAX_SECONDS, for commands that run unattended."""

from typing import Any

from typer.core import TyperCommand, TyperOption


class FromEnvironment(TyperCommand):
    """A command whose options may all come from the environment; those that are given go first."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        for option in self.params:
            if isinstance(option, TyperOption) and option.envvar is None:
                option.envvar = variable_of(option)


def variable_of(option: TyperOption) -> str:
    """Return the variable of an option: the option's long name, in capitals, behind BUTFOR_."""
    name = max(option.opts, key=len)
    return "BUTFOR_" + name.lstrip("-").replace("-", "_").upper()
