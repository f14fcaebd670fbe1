"""The recipes that users copy, each run as a new user would: with the command on the PATH and nothing else of ours."""

import os
import re
import shutil

from . import paths, process, tools

RECIPES = paths.ROOT / "recipes"
# A file that is linked, and the code shown below it.
SHOWN = re.compile(r"\]\(([\w/.]+)\)\)?:\n\n```\w+\n(.*?)```", re.S)


def recipes(run):
    shown(run)
    env = {"PATH": "%s:%s" % (paths.BINARY.parent, os.environ["PATH"])}

    def one(name, commands, prepare, command, cwd):
        if tools.have(run, name, commands) and (prepare is None or prepare(run)):
            outcome = process.run(command, "recipe-%s" % name, 300, run.report, cwd=cwd, env=env)
            run.report.outcome("the recipe of %s" % name, outcome)

    pytest = [tools.PYTHON, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    one("pytest", [], tools.python, pytest, RECIPES / "pytest")
    junit = ["mvn", "-B", "-q", "-Drecipe.output=%s" % (paths.CACHE / "junit"), "test"]
    one("junit", ["java", "mvn"], None, junit, RECIPES / "junit")
    one("go", ["go"], None, ["go", "test", "-count=1", "-mod=readonly", "./..."], RECIPES / "go")
    node = paths.CACHE / "node-recipe"
    one("node", ["node", "npm"], lambda run: copied(run, node), ["node", "--test"], node)


def copied(run, folder):
    """The Node recipe beside the driver's modules."""
    if not tools.node(run):
        return False
    folder.mkdir(parents=True, exist_ok=True)
    for file in (RECIPES / "node").iterdir():
        shutil.copy2(file, folder / file.name)
    modules = folder / "node_modules"
    if not modules.exists():
        modules.symlink_to(tools.NODE / "node_modules")
    return True


def shown(run):
    """The code on the page is in the files that it links to."""
    page = (RECIPES / "README.md").read_text(encoding="utf-8")
    found = SHOWN.findall(page)
    run.report.check("the page shows code of 4 files", len(found) == 4, "%d" % len(found))
    for file, code in found:
        text = (RECIPES / file).read_text(encoding="utf-8")
        run.report.check("the page shows what %s has" % file, code in text, "other code")
