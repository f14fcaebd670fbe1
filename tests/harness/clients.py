"""The stage that runs the clients of every runtime against servers of every runtime."""

from . import cargo, process
from .drivers import serving

# Tests of tests/runtimes/statements.rs, each for every runtime's client, version and compression.
TESTS = (
    "statements_of_every_kind_in_every_dialect",
    "pages_and_large_results_in_every_dialect",
    "a_column_that_was_added_is_seen_by_a_statement_prepared_before",
    "a_traced_statement_has_an_id",
)
CLIENTS = 5
EXAMPLES = ("helenus-std", "helenus-tokio", "helenus-smol")


def clients(run):
    def body(server):
        address = "%s:%s" % (server.host, server.port)
        command = ["cargo", "test", "--locked", "-p", "helenus-tests", "--test", "runtimes", "--"]
        name = "clients-%s" % run.label(server)
        outcome = process.run(
            command + list(TESTS), name, 600, run.report, env={"HELENUS_TEST_SERVER": address}
        )
        found = cargo.RESULT.search(outcome.output)
        passed = int(found.group(1)) if found else 0
        title = "the clients of every runtime, %s" % server.name
        if outcome.ok and passed == CLIENTS * len(TESTS):
            run.report.ok(title, passed)
        else:
            run.report.fail(title, outcome.reason(), outcome.tail())
        for package in EXAMPLES:
            command = ["cargo", "run", "--locked", "-p", package, "--example", "client", "--", address]
            outcome = process.run(command, "%s-example" % package, 300, run.report)
            good = outcome.ok and "4: Barbara" in outcome.output
            title = "the example of %s, %s" % (package, server.name)
            run.report.check(title, good, outcome.reason())

    for runtime in run.runtimes:
        serving(run, runtime, body)
