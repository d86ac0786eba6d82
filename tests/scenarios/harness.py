"""The harness of the scenarios.

A scenario is a file of this folder: small build trees and real tools, driven through the real program, with a verdict.
Each test gets a temporary folder of its own with its own store, HOME and TMPDIR and an environment made from nothing, so
that scenarios may run side by side and leave nothing behind. The program under test is $HALLMARK_BIN; no scenario knows
where anything lives on a machine. No network; every command has a time limit.

A test that needs a tool names it with @needs or @with_kits; without the tool it is skipped with the reason. A file is run as
`python3 FILE [--part PART] [-k WORD]`: a part is `base` or the name of a kit (kits.py), so that each CTest entry is wholly
run or wholly skipped (exit 77).

To see that the scenarios can fail, point HALLMARK_BIN at doubles/launcher.py: a launcher without observation.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import re
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
import unittest
from dataclasses import dataclass
from pathlib import Path

SKIP_EXIT = 77
COMMAND_LIMIT_S = 120
# A file written this close before its use cannot be told from one written during it, on kernels with a coarse clock.
SETTLE_S = 0.03
COUNTERS = ("replayed", "executed", "unproven", "failed", "uncacheable")

# Folders in which vendors install their tools without putting them on PATH.
USUAL_TOOL_FOLDERS = ("/usr/local/cuda/bin", "/opt/rocm/bin")
SYSTEM_PATH = ("/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin")
PYTHON = os.path.realpath(sys.executable)


def find_tool(name: str) -> str | None:
    """The tool as a scenario will find it: never a compiler cache's link."""
    folders = [f for f in os.environ.get("PATH", "").split(":") if f and "ccache" not in f]
    return shutil.which(name, path=":".join([*folders, *USUAL_TOOL_FOLDERS, *SYSTEM_PATH]))


def tool_path() -> str:
    """A PATH with the system's folders and the folders of the special tools that this machine has."""
    folders = []
    for name in ("nvcc", "hipcc", "ninja", "cmake", "ccache", "strace"):
        found = find_tool(name)
        if found:
            folder = os.path.dirname(found)
            if folder not in folders and folder not in SYSTEM_PATH:
                folders.append(folder)
    return ":".join([*folders, *SYSTEM_PATH])


def needs(*tools: str):
    """Skips a test, with the reason, when a tool is missing."""

    def decorate(function):
        @functools.wraps(function)
        def wrapper(self, *args, **kwargs):
            for name in tools:
                if name == "root" and os.geteuid() != 0:
                    self.skipTest("needs to be root (it mounts a small file system)")
                elif name != "root" and find_tool(name) is None:
                    self.skipTest(f"{name} is not installed")
            return function(self, *args, **kwargs)

        return wrapper

    return decorate


def with_kits(*names: str):
    """Makes one test of each kit (kits.py): the method gets it as argument, the test belongs to the part of its name."""

    def decorate(function):
        function.kit_names = names
        return function

    return decorate


def part_of(test: unittest.TestCase) -> str:
    method = getattr(test, test._testMethodName)
    return getattr(method, "part", "base")


@dataclass
class Completed:
    argv: list[str]
    code: int
    out: str
    err: str

    def __str__(self) -> str:
        return f"{' '.join(self.argv)}\n  exit {self.code}\n  stdout: {self.out}\n  stderr: {self.err}"


@dataclass
class Counts:
    replayed: int = 0
    executed: int = 0
    unproven: int = 0
    failed: int = 0
    uncacheable: int = 0

    def minus(self, other: "Counts") -> "Counts":
        return Counts(*(getattr(self, n) - getattr(other, n) for n in COUNTERS))

    @property
    def ran(self) -> int:
        """Commands that were really executed, whatever became of the result."""
        return self.executed + self.unproven + self.failed + self.uncacheable


class Scenario(unittest.TestCase):
    """Base of all scenarios; see the head of this file."""

    longMessage = True
    maxDiff = None

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        import kits

        for name, function in list(vars(cls).items()):
            for kit_name in getattr(function, "kit_names", ()):
                kit = kits.KITS[kit_name]

                def test(self, function=function, kit=kit):
                    missing = kit.missing()
                    if missing:
                        self.skipTest(missing)
                    self.environment.update(kit.environment)
                    function(self, kit)

                test.__doc__ = function.__doc__
                test.part = kit_name
                setattr(cls, f"{name}__{kit_name}", test)
            if getattr(function, "kit_names", ()):
                delattr(cls, name)

    def setUp(self):
        self.program = os.environ.get("HALLMARK_BIN", "")
        if not os.path.isfile(self.program):
            self.fail(f"HALLMARK_BIN must name the program under test; it is '{self.program}'")
        self.program = os.path.abspath(self.program)
        self.box = Path(os.path.realpath(tempfile.mkdtemp(prefix="hallmark-scenario-")))
        self.addCleanup(self._remove_box)
        self.tree = self.box / "tree"
        self.store = self.box / "store"
        self.home = self.box / "home"
        self.scratch = self.box / "tmp"
        for folder in (self.tree, self.home, self.scratch):
            folder.mkdir()
        self.environment = {
            "PATH": tool_path(),
            "HOME": str(self.home),
            "TMPDIR": str(self.scratch),
            "LANG": "C.UTF-8",
            "USER": "scenario",
            "TERM": "xterm-256color",
            "HALLMARK_STORE": str(self.store),
            "NINJA_STATUS": "[%f/%t] ",
        }
        for name in ("HALLMARK_OBSERVE", "HALLMARK_DOUBLE"):
            if name in os.environ:
                self.environment[name] = os.environ[name]

    def _remove_box(self):
        if os.environ.get("HALLMARK_SCENARIO_KEEP"):
            print(f"kept: {self.box}", file=sys.stderr)
            return
        # A read-only store is part of some scenarios.
        for folder, _, _ in os.walk(self.box):
            with contextlib.suppress(OSError):
                os.chmod(folder, 0o700)
        shutil.rmtree(self.box, ignore_errors=True)

    # ---- files -------------------------------------------------------------------------------------------------------

    def path(self, name) -> Path:
        return self.tree / name  # an absolute `name` stays as it is

    def write(self, name, text, *, executable=False, mtime: float | None = None) -> Path:
        """Writes a file of the tree as an editor would: new bytes in the same inode, and a clock tick apart from any use."""
        path = self.path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        time.sleep(SETTLE_S / 3)
        data = text.encode() if isinstance(text, str) else text
        path.write_bytes(data)
        if executable:
            path.chmod(0o755)
        if mtime is not None:
            os.utime(path, (mtime, mtime))
        time.sleep(SETTLE_S)
        return path

    def write_all(self, files: dict[str, str]) -> None:
        for name, text in files.items():
            path = self.path(name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        time.sleep(SETTLE_S)

    def script(self, name, text) -> Path:
        return self.write(name, text, executable=True)

    def read(self, name) -> str:
        return self.path(name).read_text()

    def bytes_of(self, name) -> bytes:
        return self.path(name).read_bytes()

    def age(self, *names) -> None:
        """Gives files an mtime of long ago."""
        for name in names:
            os.utime(self.path(name), (1_600_000_000, 1_600_000_000))

    def touch(self, name) -> None:
        time.sleep(SETTLE_S / 3)
        os.utime(self.path(name))
        time.sleep(SETTLE_S)

    # ---- commands ----------------------------------------------------------------------------------------------------

    def env_with(self, changes: dict[str, str | None] | None) -> dict[str, str]:
        environment = dict(self.environment)
        for name, value in (changes or {}).items():
            if value is None:
                environment.pop(name, None)
            else:
                environment[name] = value
        return environment

    def start(self, argv, *, cwd=None, env=None, **kwargs) -> subprocess.Popen:
        """Starts a command in a session of its own, which ends with the test."""
        kwargs.setdefault("stdin", subprocess.DEVNULL)
        kwargs.setdefault("stdout", subprocess.PIPE)
        kwargs.setdefault("stderr", subprocess.PIPE)
        kwargs.setdefault("start_new_session", True)
        process = subprocess.Popen([str(a) for a in argv], cwd=cwd or self.tree, env=self.env_with(env), **kwargs)

        def end():
            if process.poll() is None:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()
            for stream in (process.stdin, process.stdout, process.stderr):
                if stream:
                    stream.close()

        self.addCleanup(end)
        return process

    def run_plain(self, argv, *, cwd=None, env=None, check=True, stdin=b"", limit_s=COMMAND_LIMIT_S, code=None) -> Completed:
        """Runs a command to its end. `code`: the exit status it must have; else 0 if `check`."""
        process = self.start(argv, cwd=cwd, env=env, stdin=subprocess.PIPE if stdin else subprocess.DEVNULL)
        try:
            out, err = process.communicate(stdin or None, timeout=limit_s)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            out, err = process.communicate()
            self.fail(f"no end after {limit_s} s: {' '.join(map(str, argv))}\n{out.decode(errors='replace')}\n{err.decode(errors='replace')}")
        done = Completed([str(a) for a in argv], process.returncode, out.decode(errors="replace"), err.decode(errors="replace"))
        wanted = code if code is not None else (0 if check else None)
        if wanted is not None and done.code != wanted:
            self.fail(f"exit {done.code}, not {wanted}: {done}")
        return done

    def launcher(self, *options) -> list[str]:
        """`hallmark run OPTIONS --`, to be put before a command."""
        return [self.program, "run", *map(str, options), "--"]

    def hallmark(self, argv, *options, **kwargs) -> Completed:
        """One command through `hallmark run OPTIONS -- ARGV`."""
        return self.run_plain([*self.launcher(*options), *argv], **kwargs)

    def verb(self, *argv, **kwargs) -> Completed:
        """Another verb of the program: `hallmark VERB ...`."""
        return self.run_plain([self.program, *argv], **kwargs)

    def ninja(self, *arguments, **kwargs) -> Completed:
        return self.run_plain([find_tool("ninja"), *arguments], **kwargs)

    def make(self, *arguments, **kwargs) -> Completed:
        return self.run_plain([find_tool("make"), *arguments], **kwargs)

    # ---- verdicts ----------------------------------------------------------------------------------------------------

    def counts(self) -> Counts:
        """What the store counted so far, over all its users."""
        if not self.store.exists():
            return Counts()
        told = self.verb("cache", "stats", "--json")
        found = _find_counters(json.loads(told.out))
        if found is None:
            self.fail(f"no counters in: {told}")
        return Counts(**{name: int(found.get(name, 0)) for name in COUNTERS})

    @contextlib.contextmanager
    def expect(self, executed: int | None = 0, replayed: int | None = None, *, why: str = "", **others):
        """What the commands inside may have cost. `executed` counts published executions; every other kind of execution must
        be named (unproven=1), so that nothing hides. `replayed` is checked if given."""
        before = self.counts()
        yield
        self.expect_since(before, executed, replayed, why=why, **others)

    def expect_since(self, before: Counts, executed: int | None = 0, replayed: int | None = None, *, why: str = "", **others):
        spent = self.counts().minus(before)
        wanted = Counts(**others)
        wanted.executed = spent.executed if executed is None else executed
        wanted.replayed = spent.replayed if replayed is None else replayed
        for name, value in others.items():
            if value is None:
                setattr(wanted, name, getattr(spent, name))
        if spent != wanted:
            reasons = self.last_miss()
            self.assertEqual(wanted, spent, f"{why}\nthe last miss: {reasons}")

    def last_miss(self) -> str:
        done = self.verb("why", "--last-miss", check=False)
        return (done.out + done.err).strip()

    def assert_no_work(self, done: Completed | None = None, **kwargs) -> None:
        """A ninja with nothing to do says so; anything else is a rebuild loop."""
        done = done or self.ninja(**kwargs)
        self.assertIn("no work to do", done.out, f"ninja must have come to rest: {done}")

    def edges(self, done: Completed) -> int:
        """How many edges ninja started."""
        finished = re.findall(r"^\[(\d+)/\d+\]", done.out, re.M)
        return int(finished[-1]) if finished else 0

    # ---- from scratch ------------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def fresh_copy(self, *outputs):
        """Inside, the tree is a copy of itself without `outputs`, at the same absolute path (so that paths in the results
        agree). Afterwards the real tree is back, with not one inode or time of its files changed."""
        aside = self.box / "tree.aside"
        os.rename(self.tree, aside)
        try:
            shutil.copytree(aside, self.tree, symlinks=True)
            for name in outputs:
                with contextlib.suppress(FileNotFoundError):
                    self.path(name).unlink()
            yield
        finally:
            shutil.rmtree(self.tree, ignore_errors=True)
            os.rename(aside, self.tree)


def _find_counters(value):
    """The object that holds the counters, at whatever depth the rendering puts it."""
    if isinstance(value, dict):
        if "replayed" in value and "executed" in value:
            return value
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            found = _find_counters(item)
            if found is not None:
                return found
    return None


def depfile_names(text: str) -> dict[str, list[str]]:
    """The rules of a make-style dependency file: target -> prerequisites, escapes undone."""
    rules: dict[str, list[str]] = {}
    for line in re.sub(r"\\\r?\n", " ", text).splitlines():
        words, word, i = [], "", 0
        while i < len(line):
            c = line[i]
            if c == "\\" and i + 1 < len(line) and line[i + 1] in " #\\:":
                word += line[i + 1]
                i += 2
            elif line.startswith("$$", i):
                word += "$"
                i += 2
            elif c in " \t":
                if word:
                    words.append(word)
                word = ""
                i += 1
            else:
                word += c
                i += 1
        if word:
            words.append(word)
        target = None
        for word in words:
            if target is None and word.endswith(":"):
                target = word[:-1]
                rules.setdefault(target, [])
            elif target is not None:
                rules[target].append(word)
    return rules


def processes_with(word: str) -> dict[int, str]:
    """Living processes (no zombies) whose command line holds `word`."""
    found = {}
    for entry in os.listdir("/proc"):
        if not entry.isdigit() or int(entry) == os.getpid():
            continue
        with contextlib.suppress(OSError):
            line = Path(f"/proc/{entry}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            state = Path(f"/proc/{entry}/stat").read_text().rsplit(")", 1)[1].split()[0]
            if word in line and state not in "ZX":
                found[int(entry)] = line.strip()
    return found


def wait_until(condition, limit_s: float = 20.0, step_s: float = 0.02) -> bool:
    """Polls; for what happens in other processes. The limit is only reached when the test fails."""
    end = time.monotonic() + limit_s
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(step_s)
    return bool(condition())


def is_executable(path: Path) -> bool:
    return bool(path.stat().st_mode & stat.S_IXUSR)


def main() -> None:
    """Runs the scenarios of the calling file; see the head of this file."""
    import argparse

    parser = argparse.ArgumentParser(description=sys.modules["__main__"].__doc__)
    parser.add_argument("--part", help="only this part: base or a kit's name")
    parser.add_argument("--list", action="store_true", help="print the parts of this file and end")
    parser.add_argument("-k", dest="word", help="only tests whose name holds this word")
    parser.add_argument("-v", dest="verbose", action="store_true")
    arguments = parser.parse_args()

    every = list(_flatten(unittest.defaultTestLoader.loadTestsFromModule(sys.modules["__main__"])))
    if arguments.list:
        print("\n".join(sorted({part_of(t) for t in every})))
        sys.exit(0)
    chosen = [
        t
        for t in every
        if (arguments.part is None or part_of(t) == arguments.part)
        and (arguments.word is None or arguments.word in t.id())
    ]
    if not chosen:
        print("no such scenario", file=sys.stderr)
        sys.exit(2)
    result = unittest.TextTestRunner(verbosity=2 if arguments.verbose else 1).run(unittest.TestSuite(chosen))
    for test, reason in result.skipped:
        print(f"SKIPPED {test.id()}: {reason}")
    if not result.wasSuccessful():
        sys.exit(1)
    if len(result.skipped) == result.testsRun:
        sys.exit(SKIP_EXIT)
    sys.exit(0)


def _flatten(suite):
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from _flatten(test)
        elif type(test) is not Scenario:
            yield test
