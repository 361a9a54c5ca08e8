"""The command `firstflight`: the same as the program's."""

import sys

from ._native import command


def main() -> None:
    """Runs the command line, and exits with its code."""
    sys.exit(command(["firstflight", *sys.argv[1:]]))


if __name__ == "__main__":
    main()
