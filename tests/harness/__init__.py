"""The stages of tests/run, and what they stand on: bounded processes, servers, reports."""
