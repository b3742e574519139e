"""Entry of the command line: `butfor …` or `python -m butfor …`."""

import sys


def main() -> None:
    """Run the command line, or say what it needs."""
    try:
        from butfor._cli import app
    except ImportError as error:
        if error.name not in ("typer", "rich"):
            raise
        from butfor._extras import install_line

        sys.exit(f"The command line needs {error.name}: {install_line('cli')}")
    app()


if __name__ == "__main__":
    main()
