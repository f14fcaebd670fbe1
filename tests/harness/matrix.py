"""Which driver runs with what: every combination that a driver can do, or a selection that has every pair of settings."""

import itertools
from typing import NamedTuple

ALL, NO_SNAPPY = ("none", "lz4", "snappy"), ("none", "lz4")

# The versions that each driver speaks, with the compressions that it can do in them. v5 has no snappy.
SPEAKS = {
    "python": {3: ALL, 4: ALL, 5: NO_SNAPPY},
    # Always compresses when it can, with the first that it finds.
    "cqlsh": {3: ("lz4",), 4: ("lz4",), 5: ("lz4",)},
    "gocql": {3: ALL, 4: ALL, 5: NO_SNAPPY},
    "java": {3: ALL, 4: ALL, 5: NO_SNAPPY},
    "node": {3: ("none",), 4: ("none",)},
    "scylla": {4: ALL},
}


class Row(NamedTuple):
    """One run of a driver."""

    driver: str
    version: int
    compression: str
    tls: bool
    auth: bool
    runtime: str

    @property
    def extras(self):
        return [name for name, on in (("tls", self.tls), ("auth", self.auth)) if on]

    @property
    def name(self):
        """As part of a file name."""
        return "-".join([self.driver, "v%d" % self.version, self.compression, *self.extras])

    def __str__(self):
        return "%s v%d %s" % (self.driver, self.version, " ".join([self.compression, *self.extras, self.runtime]))


def every(tls, auth):
    """Everything but the runtime; `tls` and `auth` are the settings to run with."""
    for driver, versions in SPEAKS.items():
        for version, compressions in versions.items():
            for rest in itertools.product(compressions, tls, auth):
                yield (driver, version, *rest)


def full(runtimes, tls=(False, True), auth=(False, True)):
    """Every combination once, the runtimes taken in turns."""
    return [Row(*rest, runtime) for rest, runtime in zip(every(tls, auth), itertools.cycle(runtimes))]


def covered(row):
    """What a run covers: each two of its settings together, and what the driver speaks with its compression."""
    return {*itertools.combinations(enumerate(row), 2), (row.driver, row.version, row.compression)}


def pairwise(runtimes, tls=(False, True), auth=(False, True)):
    """The fewest runs, or nearly, that cover all that runs could: each time the run that adds the most. The choice is
    the same on every machine."""
    candidates = [Row(*rest, runtime) for rest in every(tls, auth) for runtime in runtimes]
    missing = set().union(*map(covered, candidates))
    chosen = []
    while missing:
        best = max(candidates, key=lambda row: len(covered(row) & missing))
        missing -= covered(best)
        chosen.append(best)
    return sorted(chosen)
