"""Recall: every file that strace shows as opened for reading, or executed, is an input. 100 %, for each kind of tool.

The inputs are taken from the depfile that `hallmark run --depfile` writes: the promise that build tools rely on. What the
command made itself, /proc, /sys and /dev are no inputs; a compiled Python module stands for its source.
"""

import os
import re

import harness
import kits
from harness import Scenario, depfile_names, main, needs, with_kits

NO_INPUTS = ("/proc", "/dev", "/sys")
# ld.so.cache counts by its answers (rule 5), not as a file.
COUNTED_OTHERWISE = {"/etc/ld.so.cache"}


class Trace:
    """What strace -f -y saw: files read or executed with success, and every path that was made or written."""

    OPEN = re.compile(r'open(?:at)?\((?:[^"]*, )?"((?:[^"\\]|\\.)*)", ([A-Z_|]+)[^)]*\)\s+= \d+<(.*)>$')
    EXEC = re.compile(r'execve(?:at)?\((?:[^"]*, )?"((?:[^"\\]|\\.)*)".*\)\s+= 0$')
    MADE = re.compile(r'(?:rename|renameat|renameat2|link|linkat|symlink|symlinkat|mkdir|mkdirat)\(.*"((?:[^"\\]|\\.)*)"[^"]*\)\s+= 0$')

    def __init__(self, lines, cwd):
        self.read, self.made, self.programs = set(), set(), set()
        pending = {}
        for line in lines:
            pid, _, call = line.partition(" ")
            call = call.strip()
            if call.endswith("<unfinished ...>"):
                pending[pid] = call[: -len("<unfinished ...>")]
                continue
            resumed = re.match(r"<\.\.\. \w+ resumed>(.*)", call)
            if resumed:
                call = pending.pop(pid, "") + resumed[1]
            self.take(call, cwd)

    def take(self, call, cwd):
        opened = self.OPEN.match(call)
        if opened:
            name, flags, real = opened[1], opened[2].split("|"), opened[3]
            real = real.removesuffix(" (deleted)").removesuffix(">(deleted)")
            if "O_CREAT" in flags or "O_WRONLY" in flags or "O_TRUNC" in flags:
                self.made.add(real)
            elif "O_DIRECTORY" not in flags and not os.path.isdir(real) and "O_PATH" not in flags:
                self.read.add(real)
            return
        executed = self.EXEC.match(call)
        if executed:
            self.programs.add(os.path.realpath(os.path.join(cwd, executed[1])))
        made = self.MADE.match(call)
        if made:
            self.made.add(os.path.realpath(os.path.join(cwd, made[1])))

    def inputs(self):
        found = set()
        for path in self.read | self.programs:
            if path in self.made or path in COUNTED_OTHERWISE or path.startswith(tuple(f"{p}/" for p in NO_INPUTS)):
                continue
            if any(path.startswith(f"{folder}/") for folder in self.made):
                continue
            compiled = re.match(r"(.*)/__pycache__/([^/]*)\.cpython-\d+(?:\.opt-\d)?\.pyc", path)
            if compiled:
                path = f"{compiled[1]}/{compiled[2]}.py"
            if os.path.isfile(path):
                found.add(os.path.realpath(path))
        return found


class Recall(Scenario):
    def check(self, argv, *, least: int, clean=()):
        strace = harness.find_tool("strace")
        log = self.box / "trace"
        self.run_plain([strace, "-f", "-y", "-qq", "-s", "4096", "-e", "trace=%file", "-o", log, *argv])
        wanted = Trace(log.read_text(errors="replace").splitlines(), str(self.tree)).inputs()
        self.assertGreaterEqual(len(wanted), least, "strace must have seen the command")
        for name in clean:
            self.run_plain(["rm", "-rf", name])
        self.hallmark(argv, "--depfile", "all.d", "--output", "out")
        (names,) = [n for n in depfile_names(self.read("all.d")).values() if n][:1]
        seen = {os.path.realpath(self.path(name)) for name in names}
        missing = sorted(wanted - seen)
        print(f"recall {part_name(argv)}: {len(wanted) - len(missing)} of {len(wanted)}")
        self.assertEqual([], missing, "read, but no input")
        replayed = self.hallmark(argv, "--depfile", "again.d", "--output", "out")
        self.assertEqual("", replayed.err)

    @needs("strace")
    @with_kits("gxx", "clang", "nvcc", "hipcc")
    def test_compilers(self, kit):
        self.write_all(kit.base_files())
        if kit.name in ("gxx", "clang"):
            self.write(kit.source, "#include <regex>\n#include <iostream>\n" + self.read(kit.source))
        self.check(kit.base_command(depfile=False), least=20)

    @needs("strace")
    @with_kits("gxx")
    def test_link(self, kit):
        self.write("m.cpp", "#include <string>\nint main() { return std::string(\"x\").size() - 1; }\n")
        self.check(["g++", "-O1", "-pipe", "m.cpp", "-o", "out"], least=30)

    @needs("strace")
    def test_python_generator(self):
        kit = kits.KITS["python"]
        self.write_all(kit.base_files())
        self.check(kit.base_command(), least=20)

    @needs("strace")
    def test_shell_pipeline(self):
        self.write_all({"a.txt": "b\na\nc\n", "dir/b.txt": "x\n", "used.sed": "s/a/z/\n", "sub.sh": ". ./lib.sh\nshow\n",
                        "lib.sh": "show() { cat a.txt dir/b.txt | sort | sed -f used.sed; }\n"})
        self.check(["bash", "-c", "sh sub.sh | tee out | awk '{print $1}' | grep -c . > /dev/null; find dir -name '*.txt' | xargs cat > /dev/null"],
                   least=15)

    @needs("strace", "gcc")
    def test_static_program(self):
        self.write("s.c", "#include <stdio.h>\nint main(int n, char** v) { for (int i = 1; i < n; i++) { FILE* f = fopen(v[i], \"r\");"
                          " if (!f) return 1; while (fgetc(f) >= 0) {} } FILE* o = fopen(\"out\", \"w\"); return fputs(\"x\", o) < 0; }\n")
        if self.run_plain(["gcc", "-static", "s.c", "-o", "s"], check=False).code != 0:
            self.skipTest("no static C library is installed")
        self.write_all({f"in{i}.txt": str(i) for i in range(20)})
        self.check(["./s", *[f"in{i}.txt" for i in range(20)]], least=21)

    @needs("strace", "cmake", "ninja")
    def test_cmake_configure(self):
        self.write_all({"CMakeLists.txt": "cmake_minimum_required(VERSION 3.20)\nproject(p CXX)\ninclude(part.cmake)\nadd_executable(m m.cpp)\n"
                                          "find_package(Threads REQUIRED)\n", "part.cmake": "configure_file(x.in x.out)\n",
                        "x.in": "x\n", "m.cpp": "int main() {}\n"})
        self.check(["cmake", "-G", "Ninja", "-S", ".", "-B", "b"], least=100, clean=["b"])


def part_name(argv) -> str:
    return os.path.basename(str(argv[0]))


if __name__ == "__main__":
    main()
