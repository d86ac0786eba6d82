#!/usr/bin/env python3
"""Runs the programs of this folder under a tier and under strace, and compares.

  run.py --observe-dump FILE --agent FILE --programs DIR --sources DIR --tier TIER [NAME...]

TIER is hybrid, notify, ptrace, or `below-notify`: ptrace below an outer supervisor, where only tracing every call works.

For each program (fixture.h says what its first comment means) it checks: the exit status is the one it has unobserved; each
line of its comment holds; every file that strace saw it read is an input with its content (0 missing reads), unless the
program made it; no doubt that it does not name. Exits with 0, 1, or 77 where nothing could be run.
"""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

SKIPPED = 77
NO_INPUT = ("/proc/", "/dev/", "/sys/", "/.hallmark-agent/")
TIMEOUT_S = 120
LATER_S = 20


def make_fixture(folder):
    os.makedirs(os.path.join(folder, "folder/deep"))
    for name in ("file", "other", "folder/inside", "folder/deep/leaf"):
        with open(os.path.join(folder, name), "w") as out:
            out.write(name + "\n")
    os.symlink("file", os.path.join(folder, "link"))
    os.symlink("folder", os.path.join(folder, "folder_link"))
    script = os.path.join(folder, "script")
    with open(script, "w") as out:
        out.write("#!/bin/sh\nexit 0\n")
    os.chmod(script, 0o755)


def expectations(source):
    """The lines of the first comment, by keyword."""
    wanted = {}
    with open(source) as text:
        for line in text:
            if not line.startswith("//"):
                break
            found = re.match(r"// (reads|looks|links|absent|lists|writes|later|doubt|needs): (\S+)", line)
            if found:
                wanted.setdefault(found[1], []).append(found[2])
    return wanted


def in_folder(folder, path):
    """Where a path of a comment lies, links above the last component and in it followed."""
    return os.path.realpath(os.path.join(folder, path))


def appears(path):
    end = time.monotonic() + LATER_S
    while not os.path.exists(path):
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


class Observed:
    def __init__(self, report):
        self.content, self.any, self.absent, self.listed, self.links = set(), set(), set(), set(), set()
        self.outputs, self.doubts, self.summary = set(), [], {}
        with open(report) as lines:
            for line in map(json.loads, lines):
                self.add(line)

    def add(self, line):
        kind = line["type"]
        if kind == "input":
            (self.any if line["exists"] else self.absent).add(line["path"])
            if line["use"] == "content" and line["exists"]:
                self.content.add(line["path"])
            if line["use"] == "link" or line.get("kind") == "symlink":
                self.links.add(line["path"])
            if line["use"] == "listing":
                self.listed.add(line["path"])
        elif kind == "output":
            self.outputs.add(line["path"])
        elif kind == "doubt":
            self.doubts.append((line["code"], line["subject"], line.get("before", "")))
        elif kind == "summary":
            self.summary = line


def reads_by_strace(log, folder):
    """Paths of regular files opened for reading, and of programs executed, that were there before."""
    reads, made = set(), set()
    for line in open(log, errors="replace"):
        opened = re.search(r"open(?:at2?)?\(.*?(O_[A-Z_|]+).*\) += \d+<(/[^>]*)>", line)
        if opened:
            path = opened[2]
            if re.search("O_WRONLY|O_RDWR|O_CREAT|O_TRUNC", opened[1]):
                made.add(path)
            elif "O_DIRECTORY" not in opened[1] and "O_PATH" not in opened[1]:
                reads.add(path)
        executed = re.search(r'execve\("(/[^"]*)".*\) += 0', line)
        if executed:
            reads.add(os.path.realpath(executed[1]))
    return {os.path.realpath(path) for path in reads - made
            if not path.startswith(NO_INPUT) and "(deleted)" not in path and os.path.isfile(path)}


class Runner:
    def __init__(self, options, scratch):
        self.options, self.scratch = options, scratch
        self.problems = []

    def folder(self, program, purpose):
        folder = os.path.realpath(os.path.join(self.scratch, program, purpose))
        os.makedirs(folder)
        make_fixture(folder)
        return folder

    def run(self, command, folder, observed):
        environment = {"PATH": os.environ["PATH"]}
        if observed:
            environment["HALLMARK_TEST_OBSERVED"] = "1"
        return subprocess.run(command, cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=TIMEOUT_S, close_fds=True)

    def dump(self, tier, report):
        command = [self.options.observe_dump, "--tier", tier, "--report", report]
        return command + (["--agent", self.options.agent] if tier == "hybrid" else []) + ["--"]

    def observe(self, program, binary):
        folder = self.folder(program, "observed")
        report = os.path.join(self.scratch, program, "report.json")
        tier = self.options.tier
        if tier == "below-notify":
            outer = self.dump("notify", os.path.join(self.scratch, program, "outer.json"))
            command = outer + self.dump("ptrace", report) + [binary]
            tier = "ptrace"
        else:
            command = self.dump(tier, report) + [binary]
        done = self.run(command, folder, True)
        return folder, done, Observed(report) if os.path.exists(report) else None, tier

    def strace(self, program, binary):
        if self.options.strace is None:
            return None
        folder = self.folder(program, "strace")
        log = os.path.join(self.scratch, program, "strace.log")
        self.run([self.options.strace, "-f", "-y", "-s", "8192", "-o", log, "-e", "trace=file", binary], folder, False)
        return {path.replace(folder, "@") for path in reads_by_strace(log, folder)}

    def one(self, program):
        """None if all is well, "skipped: why", or a list of problems."""
        wanted = expectations(os.path.join(self.options.sources, program + ".c"))
        binary = os.path.realpath(os.path.join(self.options.programs, program))
        if "root" in wanted.get("needs", []) and os.geteuid() != 0:
            return "skipped: needs root"
        plain = self.run([binary], self.folder(program, "plain"), False)
        if plain.returncode == SKIPPED:
            return "skipped: this kernel cannot do it"
        if plain.returncode != 0:
            return "skipped: fails without being observed: " + plain.stdout.decode(errors="replace").strip()
        folder, done, observed, tier = self.observe(program, binary)
        if done.returncode != 0:
            return [f"exit status {done.returncode}: {done.stdout.decode(errors='replace').strip()}"]
        if observed is None:
            return ["no report"]
        return self.compare(program, binary, folder, wanted, observed, tier)

    def compare(self, program, binary, folder, wanted, observed, tier):
        problems = []
        if observed.summary.get("tier") != tier:
            return [f"ran under tier {observed.summary.get('tier')}"]
        for keyword, found in (("reads", observed.content), ("looks", observed.any), ("lists", observed.listed),
                               ("absent", observed.absent), ("writes", observed.outputs)):
            for path in wanted.get(keyword, []):
                if in_folder(folder, path) not in found:
                    problems.append(f"{keyword}: {path} was not observed")
        for path in wanted.get("links", []):
            if os.path.join(folder, path) not in observed.links:
                problems.append(f"links: {path} was not observed")
        for path in wanted.get("later", []):
            if not appears(os.path.join(folder, path)):
                problems.append(f"later: {path} did not appear")
        doubts = {code for code, _, _ in observed.doubts}
        for name in wanted.get("doubt", []):
            if not name.startswith("?") and name not in doubts:
                problems.append(f"doubt: {name} is missing")
        for doubt in observed.doubts:
            if doubt[0] not in [name.lstrip("?") for name in wanted.get("doubt", [])]:
                problems.append(f"unexpected doubt {doubt}")
        reads = self.strace(program, binary)
        if reads is not None and "doubt" not in wanted:
            # Whatever was written is an output, or was read before (and then it is an input as well).
            known = {path.replace(folder, "@") for path in observed.content | observed.outputs}
            problems += [f"missing read: {path}" for path in sorted(reads - known)]
        return problems or None


def main():
    parser = argparse.ArgumentParser()
    for name in ("--observe-dump", "--agent", "--programs", "--sources"):
        parser.add_argument(name, required=True)
    parser.add_argument("--tier", required=True, choices=["hybrid", "notify", "ptrace", "below-notify"])
    parser.add_argument("--keep", action="store_true", help="leave the scratch folder")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    options.observe_dump = os.path.realpath(options.observe_dump)
    options.agent = os.path.realpath(options.agent)
    options.strace = shutil.which("strace")
    names = options.names or sorted(
        name[:-2] for name in os.listdir(options.sources)
        if name.endswith(".c") and os.path.exists(os.path.join(options.programs, name[:-2])))
    if options.strace is None:
        print("note: no strace: only the comments of the programs are checked")
    failed = skipped = 0
    scratch = tempfile.mkdtemp(prefix="hallmark-syscalls-")
    try:
        runner = Runner(options, scratch)
        for name in names:
            try:
                result = runner.one(name)
            except subprocess.TimeoutExpired:
                result = [f"still running after {TIMEOUT_S} s"]
            if result is None:
                print(f"ok      {name}")
            elif isinstance(result, str):
                skipped += 1
                print(f"{result.split(':')[0]} {name}: {result.partition(': ')[2]}")
            else:
                failed += 1
                for problem in result:
                    print(f"FAILED  {name}: {problem}")
    finally:
        if options.keep:
            print("left", scratch)
        else:
            shutil.rmtree(scratch, ignore_errors=True)
    print(f"{len(names)} programs, {failed} failed, {skipped} skipped under {options.tier}")
    if failed:
        return 1
    return SKIPPED if skipped == len(names) else 0


if __name__ == "__main__":
    sys.exit(main())
