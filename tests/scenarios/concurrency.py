"""The same command many times at once: one execution, everybody else replays. No lock outlives its holder.

Today: two ranks compile the same module into one file (pytorch/pytorch#6353, deepseek-ai/DeepGEMM#301), or hang for ever
behind a lock file whose owner was killed (pytorch/pytorch#189245).
"""

import os
import signal
import time
from pathlib import Path

import harness

from harness import Scenario, main, needs

EQUALS = 64
# The output shows who made it: two executions cannot look the same.
GENERATOR = """\
import os, sys, time
time.sleep(float(sys.argv[2]))
with open(sys.argv[1], "w") as out:
    for part in range(200):
        out.write(f"{os.getpid()} {time.time_ns() if part == 0 else part}\\n")
"""


class Concurrency(Scenario):
    def start_many(self, count: int, seconds: float):
        self.write("gen.py", GENERATOR)
        command = self.launcher("--output", "out.txt") + [harness.PYTHON, "gen.py", "out.txt", str(seconds)]
        return [self.start(command) for _ in range(count)]

    def finish(self, processes):
        for process in processes:
            out, err = process.communicate(timeout=100)
            self.assertEqual(0, process.returncode, (out, err))

    def assert_one_writer(self):
        lines = self.read("out.txt").splitlines()
        self.assertEqual(200, len(lines))
        self.assertEqual(1, len({line.split()[0] for line in lines}), "one writer only")

    def test_equal_commands(self):
        processes = self.start_many(EQUALS, 1)
        self.finish(processes)
        counts = self.counts()
        self.assertEqual((1, EQUALS - 1, 1), (counts.executed, counts.replayed, counts.ran))
        self.assert_one_writer()

    def test_first_is_killed(self):
        """kill -9 of the one that executes: its command dies with it, another takes over, nobody hangs."""
        processes = self.start_many(EQUALS, 3)
        self.assertTrue(harness.wait_until(lambda: self.executing()), "one must execute")
        (child,) = self.executing()
        own = {process.pid: process for process in processes}
        holder = child
        while holder not in own and holder > 1:
            holder = int(Path(f"/proc/{holder}/stat").read_text().rsplit(")", 1)[1].split()[1])
        self.assertIn(holder, own)
        os.kill(holder, signal.SIGKILL)
        self.assertEqual(-signal.SIGKILL, own[holder].wait(timeout=20))
        self.assertTrue(harness.wait_until(lambda: child not in self.executing(), 10), "the orphan must die with its supervisor")
        self.finish([p for p in processes if p.pid != holder])
        counts = self.counts()
        self.assertEqual((1, EQUALS - 2, 1), (counts.executed, counts.replayed, counts.ran))
        self.assert_one_writer()

    def executing(self):
        """Processes of the generator itself, not the hallmark in front of it."""
        found = harness.processes_with(str("gen.py out.txt"))
        mine = set()
        for pid, line in found.items():
            if " -- " not in line and line.startswith(harness.PYTHON):
                try:
                    if os.readlink(f"/proc/{pid}/cwd") == str(self.tree):
                        mine.add(pid)
                except OSError:
                    pass
        return mine

    @needs("ninja")
    def test_two_ninjas(self):
        """Two Ninjas on one build folder."""
        self.write("gen.py", GENERATOR)
        self.write("build.ninja", f"rule gen\n  command = {self.program} run -- {harness.PYTHON} gen.py $out 1\n"
                                  "build out.txt: gen gen.py\n")
        both = [self.start(["ninja"]) for _ in range(2)]
        self.finish(both)
        counts = self.counts()
        self.assertEqual((1, 1), (counts.executed, counts.ran))
        self.assert_one_writer()

    def test_different_commands_do_not_wait(self):
        """The lock is of an action, not of the store: four sleeping commands overlap."""
        self.write("gen.py", GENERATOR)
        begin = time.monotonic()
        processes = [
            self.start(self.launcher("--output", f"{i}.txt") + [harness.PYTHON, "gen.py", f"{i}.txt", "2"]) for i in range(4)
        ]
        self.finish(processes)
        self.assertLess(time.monotonic() - begin, 7.5, "four commands of 2 s one after the other take 8 s")
        self.assertEqual(4, self.counts().executed)

    def test_readers_beside_a_checker(self):
        """`cache verify` runs beside writers: it finds nothing wrong and disturbs nobody."""
        self.write("gen.py", GENERATOR)
        writers = [
            self.start(self.launcher("--output", f"{i}.txt") + [harness.PYTHON, "gen.py", f"{i}.txt", "0.1"]) for i in range(12)
        ]
        for _ in range(4):
            self.verb("cache", "verify")
        self.finish(writers)
        self.verb("cache", "verify")
        with self.expect(executed=0, replayed=12):
            for i in range(12):
                self.hallmark([harness.PYTHON, "gen.py", f"{i}.txt", "0.1"], "--output", f"{i}.txt")


if __name__ == "__main__":
    main()
