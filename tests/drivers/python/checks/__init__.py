"""The checks: every function of these modules that is marked with @check, in order."""

_CHECKS = []


def check(function):
    """Marks a function as a check; its name says the rule."""
    _CHECKS.append((function.__name__, function))
    return function


def equal(got, wanted):
    """Exact equality, types of containers included."""
    assert got == wanted, "got %s, wanted %s" % (short(got), short(wanted))


def short(value):
    text = repr(value)
    return text if len(text) <= 400 else text[:400] + "…"


def refused(kind, text, function, *arguments, **options):
    """The call raises `kind`, with `text` in its message; gives the error."""
    try:
        function(*arguments, **options)
    except kind as error:
        assert text in str(error), "message lacks %r: %s" % (text, error)
        return error
    raise AssertionError("no %s" % kind.__name__)


def each(cases, function):
    """Calls the function with every case; fails with all cases that failed."""
    wrong = []
    for case in cases:
        try:
            function(*case)
        except Exception as error:
            wrong.append("%s: %s: %s" % (case[0], type(error).__name__, error))
    assert not wrong, " | ".join(wrong)


def eventually(condition, what, seconds=10):
    """Waits until the condition holds: for what arrives as an event."""
    import time

    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "not within %d s: %s" % (seconds, what)
        time.sleep(0.02)


def collect():
    from . import connection, types, collections, crud, select, prepared, batch, lwt, time_to_live  # noqa: F401
    from . import paging, schema, errors, counters, metadata, indexes, functions, large, disturbed  # noqa: F401

    return _CHECKS
