"""`hallmark why --last-miss` and `run --explain` name the exact cause of a miss: the file, name, listing, variable or argument."""

import json
import os

from harness import PYTHON, Scenario, main

READER = """\
import os, sys
for path in ("one/opt.txt", "two/opt.txt"):
    if os.path.exists(path):
        open(path).read()
os.listdir("listed")
open("link.txt").read()
open("in.txt").read()
open("out.txt", "w").write(os.environ.get("FLAVOUR", "") + " ".join(sys.argv[1:]))
"""


class Why(Scenario):
    def setUp(self):
        super().setUp()
        self.write_all({"gen.py": READER, "in.txt": "1", "two/opt.txt": "", "one/x": "", "listed/a": "", "target1": "1", "target2": "2",
                        "other/in.txt": "1"})
        os.symlink("target1", self.path("link.txt"))
        self.run_it()

    def run_it(self, *arguments, env=None, options=()):
        return self.hallmark([PYTHON, "gen.py", *arguments], "--output", "out.txt", *options, env=env)

    def blamed(self, code: str, subject: str, *arguments, env=None):
        """The one reason of the miss, in both places and both forms."""
        done = self.run_it(*arguments, env=env, options=("--explain",))
        self.assertIn(subject, done.err, "--explain")
        text = self.verb("why", "--last-miss").out
        self.assertIn(subject, text)
        told = json.loads(self.verb("why", "--last-miss", "--json").out)
        reasons = _reasons(told)
        self.assertIn(code, [reason["code"] for reason in reasons], reasons)
        self.assertTrue(any(subject in json.dumps(reason, ensure_ascii=False) for reason in reasons if reason["code"] == code), reasons)
        # Only causes: nothing is blamed that did not change.
        for innocent in {"in.txt", "listed", "opt.txt", "link.txt", "FLAVOUR"} - {word for word in (subject.split("/")[-1], subject) }:
            self.assertFalse(any(reason.get("subject", "").endswith(innocent) for reason in reasons), (innocent, reasons))

    def test_content(self):
        self.write("in.txt", "2")
        self.blamed("content_changed", "in.txt")

    def test_appeared(self):
        self.write("one/opt.txt", "")
        self.blamed("appeared", "one/opt.txt")

    def test_vanished(self):
        self.path("two/opt.txt").unlink()
        self.blamed("vanished", "two/opt.txt")

    def test_listing(self):
        self.write("listed/b", "")
        self.blamed("listing_changed", "listed")

    def test_link(self):
        self.path("link.txt").unlink()
        os.symlink("target2", self.path("link.txt"))
        self.blamed("link_changed", "link.txt")

    def test_variable(self):
        self.blamed("variable_changed", "FLAVOUR", env={"FLAVOUR": "debug"})

    def test_argument(self):
        self.blamed("argument_changed", "--fast", "--fast")

    def test_working_folder(self):
        for name in ("gen.py", "in.txt", "two/opt.txt", "one/x", "listed/a", "target1"):
            self.write(f"elsewhere/{name}", self.read(name))
        os.symlink("target1", self.path("elsewhere/link.txt"))
        self.hallmark([PYTHON, "gen.py"], "--output", f"{self.tree}/out.txt", cwd=self.path("elsewhere"))

    def test_kind(self):
        self.path("two/opt.txt").unlink()
        self.path("two/opt.txt").mkdir()
        done = self.run_plain(self.launcher("--output", "out.txt", "--explain") + [PYTHON, "gen.py"], check=False)
        self.assertIn("two/opt.txt", done.err)

    def test_tool_on_path(self):
        self.script("bin1/tool", "#!/bin/sh\necho 1\n")
        self.script("bin2/tool", "#!/bin/sh\necho 2\n")
        self.write("gen.sh", "tool > out.txt\n")
        for folder in ("bin1", "bin2"):
            self.hallmark(["sh", "gen.sh"], "--output", "out.txt", env={"PATH": f"{self.path(folder)}:{self.environment['PATH']}"})
        reasons = _reasons(json.loads(self.verb("why", "--last-miss", "--json").out))
        self.assertIn("tool", json.dumps([r for r in reasons if r["code"] in ("program_changed", "content_changed")]))

    def test_first_run_is_no_miss(self):
        """`why` tells of a command that ran although an earlier run was known; a new command says first_run."""
        done = self.hallmark(["gcc", "--version"], "--explain")
        self.assertTrue(done.err.strip())
        nothing = self.verb("why", "--last-miss", "--root", str(self.box / "home"), code=1)
        self.assertTrue(nothing.err.strip())

    def test_replay_is_no_miss(self):
        self.write("in.txt", "2")
        self.run_it()
        self.run_it()
        self.assertIn("in.txt", self.verb("why", "--last-miss").out)

    def test_last_miss_is_the_default(self):
        self.write("in.txt", "2")
        self.run_it()
        self.assertIn("in.txt", self.verb("why").out)
        self.assertEqual(self.verb("why", "--last-miss", "--json").out, self.verb("why", "--json").out)

    def test_the_nearest_record_is_compared(self):
        """After many states, only what differs from the nearest one is blamed."""
        for value in range(5):
            self.write("in.txt", f"state {value}")
            self.run_it()
        self.write("listed/b", "")
        self.blamed("listing_changed", "listed")

    def test_many_changed_files(self):
        self.write_all({f"many/{i}.txt": "" for i in range(60)})
        self.write("many.py", "import glob\nfor n in sorted(glob.glob('many/*')):\n    open(n).read()\nopen('out.txt', 'w').write('x')\n")
        self.hallmark([PYTHON, "many.py"], "--output", "out.txt")
        self.write_all({f"many/{i}.txt": "x" for i in range(60)})
        self.hallmark([PYTHON, "many.py"], "--output", "out.txt")
        reasons = _reasons(json.loads(self.verb("why", "--last-miss", "--json").out))
        self.assertTrue(1 <= len(reasons) <= 40, len(reasons))


def _reasons(told) -> list[dict]:
    if isinstance(told, dict):
        if "reasons" in told:
            return told["reasons"]
        for value in told.values():
            if (found := _reasons(value)):
                return found
    return []


if __name__ == "__main__":
    main()
