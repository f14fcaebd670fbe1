"""Where things are in the repository."""

import pathlib

TESTS = pathlib.Path(__file__).resolve().parent.parent
ROOT = TESTS.parent
DRIVERS = TESTS / "drivers"
PROFILES = TESTS / "profiles"
CACHE = TESTS / ".cache"
LOGS = CACHE / "logs"
TARGET = ROOT / "target"
BINARY = TARGET / "release" / "helenus"
# Builds that a panic ends.
ABORTING = TARGET / "fuzz"
