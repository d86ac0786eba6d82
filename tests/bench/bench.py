"""Measures whole processes against their peers in the same run, and prints the table of docs/benchmarks.md.

Each figure is the median of interleaved runs (A B A B ...) of hyperfine without a shell, given as a ratio with its quartiles:
machines differ and drift, ratios of neighbours do not. A figure whose tool is missing is left out with the reason. Nothing
here fails a build: figures are read by people.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "scenarios"))
import harness  # noqa: E402  (find_tool and tool_path)

import workloads  # noqa: E402

HALLMARK = os.path.abspath(os.environ.get("HALLMARK_BIN", "build/release/bin/hallmark"))
PROJECT = Path(__file__).resolve().parent.parent.parent


class Unavailable(Exception):
    """The figure cannot be measured here; the text says why."""


@dataclass
class Figure:
    name: str
    reach: str
    measured: str
    detail: str


@dataclass
class Side:
    """One of the commands that are compared. `prepare` runs before each timed run, untimed."""

    argv: list[str]
    prepare: list[str] | None = None
    fails: bool = False  # its exit code is not 0, as it should be


class Bench:
    def __init__(self, folder: Path, quick: bool):
        self.folder = folder
        self.quick = quick
        self.environment = {
            "PATH": harness.tool_path(),
            "HOME": str(folder / "home"),
            "TMPDIR": str(folder / "tmp"),
            "LANG": "C.UTF-8",
            "HALLMARK_STORE": str(folder / "store"),
            "CCACHE_DIR": str(folder / "ccache"),
            "HIP_PLATFORM": "amd",
        }
        for name in ("home", "tmp"):
            (folder / name).mkdir()

    def rounds(self, number: int) -> int:
        return 3 if self.quick else number

    def need(self, *tools: str) -> None:
        for tool in tools:
            if harness.find_tool(tool) is None:
                raise Unavailable(f"{tool} is not installed")

    def run(self, argv, cwd, check=True, **kwargs) -> subprocess.CompletedProcess:
        done = subprocess.run([str(a) for a in argv], cwd=cwd, env=self.environment, capture_output=True, text=True, stdin=subprocess.DEVNULL, **kwargs)
        if check and done.returncode != 0:
            raise RuntimeError(f"{argv}: exit {done.returncode}\n{done.stdout}\n{done.stderr}")
        return done

    def once(self, side: Side, cwd: Path) -> float:
        """Seconds of one run."""
        report = self.folder / "hyperfine.json"
        if side.prepare:
            self.run(side.prepare, cwd)
        line = " ".join(_quoted(word) for word in side.argv)
        self.run([harness.find_tool("hyperfine"), "-N", "--runs", "1", "--warmup", "0", "--style", "none", *(["--ignore-failure"] if side.fails else []), "--export-json", report, line], cwd)
        return json.loads(report.read_text())["results"][0]["median"]

    def compare(self, sides: dict[str, Side], cwd: Path, rounds: int, warm: int = 1) -> dict[str, list[float]]:
        """Times of each side, taken in turn."""
        for _ in range(warm):
            for side in sides.values():
                self.once(side, cwd)
        times: dict[str, list[float]] = {name: [] for name in sides}
        for number in range(rounds):
            names = list(sides) if number % 2 == 0 else list(reversed(sides))
            for name in names:
                times[name].append(self.once(sides[name], cwd))
        return times

    def counters(self) -> dict[str, int]:
        return json.loads(self.run([HALLMARK, "cache", "stats", "--json"], self.folder).stdout)

    def forget(self) -> list[str]:
        """A command that empties the store, so that the next run is a miss."""
        return ["rm", "-rf", self.environment["HALLMARK_STORE"]]


def _quoted(word) -> str:
    word = str(word)
    return word if re.fullmatch(r"[-\w./=:@+,]+", word) else "'" + word.replace("'", "'\\''") + "'"


def ratio(times: dict[str, list[float]], ours: str, peer: str) -> str:
    pairs = [a / b for a, b in zip(times[ours], times[peer])]
    if len(pairs) < 4:
        return f"{statistics.median(pairs):.2f}"
    low, _, high = statistics.quantiles(pairs, n=4)
    return f"{statistics.median(pairs):.2f} [{low:.2f}-{high:.2f}]"


def milliseconds(seconds: list[float]) -> str:
    value = statistics.median(seconds) * 1000
    return f"{value:.1f} ms" if value < 100 else f"{value / 1000:.2f} s"


# ---- figures ---------------------------------------------------------------------------------------------------------


def miss_overhead(bench: Bench, title: str, reach: str, argv: list[str], source: str, cwd: Path, rounds: int) -> Figure:
    """Each run finds the source edited, as a developer's compile does: the tools' digests are known, the result is not."""
    edit = ["sh", "-c", f"date +'// %s %N' >> {source}"]
    before = bench.counters()["executed"]
    times = bench.compare({"plain": Side(argv, edit), "hallmark": Side([HALLMARK, "run", "--", *argv], edit)}, cwd, rounds)
    recorded = bench.counters()["executed"] - before
    if recorded != rounds + 1:
        raise Unavailable(f"only {recorded} of {rounds + 1} runs were misses that were recorded")
    return Figure(title, reach, ratio(times, "hallmark", "plain"),
                  f"plain {milliseconds(times['plain'])}, miss {milliseconds(times['hallmark'])}, {rounds} rounds")


def miss_nvcc(bench: Bench) -> Figure:
    bench.need("nvcc")
    cwd = workloads.cuda_heavy(bench.folder / "heavy")
    return miss_overhead(bench, "miss / plain, nvcc TU of 10 s or more", "<= 1.02", workloads.CUDA_HEAVY, "h.cu", cwd, bench.rounds(5))


def miss_gcc(bench: Bench) -> Figure:
    cwd = workloads.trivial_c(bench.folder / "trivial")
    return miss_overhead(bench, "miss / plain, trivial `gcc -c`", "<= 1.10", workloads.TRIVIAL_C, "t.c", cwd, bench.rounds(40))


def miss_ninja(bench: Bench) -> Figure:
    bench.need("ninja")
    rounds = bench.rounds(7)
    cwd = workloads.many_c(bench.folder / "many", HALLMARK)
    ninja = harness.find_tool("ninja")
    clean = "rm -rf {0}; mkdir {0}; cp {0}.ninja {0}/build.ninja; date +'// %s %N' >> common.h"
    times = bench.compare({
        "plain": Side([ninja, "-C", "plain", "-j2"], ["sh", "-c", clean.format("plain")]),
        "hallmark": Side([ninja, "-C", "under", "-j2"], ["sh", "-c", clean.format("under")]),
    }, cwd, rounds)
    return Figure("miss / plain, ninja -j2 of 100 tiny C files", "<= 1.10", ratio(times, "hallmark", "plain"),
                  f"plain {milliseconds(times['plain'])}, misses {milliseconds(times['hallmark'])}, {rounds} rounds")


def hit(bench: Bench, title: str, reach: str, argv: list[str], outputs: list[str], cwd: Path) -> Figure:
    bench.need("ccache")
    rounds = bench.rounds(30)
    ours = [HALLMARK, "run", "--", *argv]
    peer = [harness.find_tool("ccache"), *argv]
    bench.run(bench.forget(), cwd)
    time.sleep(2.1)  # ccache does not trust files younger than its own clock tick
    for command in (peer, peer, ours, ours):
        bench.run(["rm", "-f", *outputs], cwd)
        bench.run(command, cwd)
    stats = bench.counters()
    if stats["replayed"] < 1:
        raise Unavailable(f"hallmark did not replay: {stats}")
    bench.run(["rm", "-f", *outputs], cwd)
    told = bench.run([*ours[:2], "--json", *ours[2:]], cwd)
    inputs = json.loads(told.stderr.splitlines()[-1]).get("inputs")
    before = bench.run([harness.find_tool("ccache"), "--print-stats"], cwd).stdout
    replayed = bench.counters()["replayed"]
    times = bench.compare({"ccache": Side(peer, ["rm", "-f", *outputs]), "hallmark": Side(ours, ["rm", "-f", *outputs])}, cwd, rounds)
    after = bench.run([harness.find_tool("ccache"), "--print-stats"], cwd).stdout
    hits = _ccache_hits(after) - _ccache_hits(before)
    replayed = bench.counters()["replayed"] - replayed
    if hits != rounds + 1 or replayed != rounds + 1:
        raise Unavailable(f"of {rounds + 1} runs each, ccache hit {hits} and hallmark replayed {replayed}")
    return Figure(title, reach, f"{milliseconds(times['hallmark'])}, {ratio(times, 'hallmark', 'ccache')} of ccache's",
                  f"{inputs} inputs; ccache {milliseconds(times['ccache'])}, {rounds} rounds")


def _ccache_hits(stats: str) -> int:
    return sum(int(line.split()[1]) for line in stats.splitlines() if line.split()[0] in ("direct_cache_hit", "preprocessed_cache_hit"))


def hit_gxx(bench: Bench) -> Figure:
    cwd = workloads.cpp_headers(bench.folder / "cpp")
    return hit(bench, "hit, g++ TU with about 250 headers", "faster than ccache", workloads.CPP_HEADERS, ["t.o", "t.d"], cwd)


def hit_nvcc(bench: Bench) -> Figure:
    bench.need("nvcc")
    cwd = workloads.cuda_headers(bench.folder / "cccl")
    return hit(bench, "hit, nvcc TU with CCCL, about 1000 inputs", "<= 20 ms and <= 0.50 of ccache's", workloads.CUDA_HEADERS, ["t.o", "t.d"], cwd)


def memory(bench: Bench) -> Figure:
    cwd = workloads.path_events(bench.folder / "events", harness.find_tool("gcc"))
    parts = []
    for name, argv in (("10,000 names", ["./events", "1000000", "10000"]), ("100,000 names", ["./events", "1000000", "100000"])):
        peak = _own_peak_kib([HALLMARK, "run", "--cache", "--", *argv], cwd, bench.environment)
        parts.append(f"{peak / 1024:.0f} MiB with {name}")
    return Figure("memory of the supervisor, 1,000,000 path events", "<= 64 MiB", parts[0], parts[1])


def _own_peak_kib(argv, cwd, environment) -> int:
    """Largest resident size of the process itself while it runs, not of its children."""
    process = subprocess.Popen(argv, cwd=cwd, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
    peak = 0
    while process.poll() is None:
        try:
            text = Path(f"/proc/{process.pid}/status").read_text()
        except OSError:
            break
        found = re.search(r"VmHWM:\s+(\d+) kB", text)
        if found:
            peak = max(peak, int(found[1]))
        time.sleep(0.01)
    if process.wait() != 0:
        raise RuntimeError(f"{argv}: exit {process.returncode}")
    return peak


def equal_commands(bench: Bench) -> Figure:
    parts = []
    for kill in (False, True):
        cwd = workloads.slow_generator(bench.folder / f"equal{int(kill)}")
        bench.run(bench.forget(), cwd)
        argv = [HALLMARK, "run", "--output", "out.txt", "--", harness.PYTHON, "gen.py", "2"]
        processes = [subprocess.Popen(argv, cwd=cwd, env=bench.environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL) for _ in range(64)]
        if kill:
            holder = _executing(cwd, {p.pid for p in processes})
            os.kill(holder, 9)
        for process in processes:
            process.wait()
        counted = bench.counters()
        parts.append(f"{counted['executed']} executed, {counted['replayed']} replayed" + (", the first killed -9" if kill else ""))
    return Figure("64 equal commands at once", "1 execution, 63 replays", parts[0], parts[1])


def _executing(cwd: Path, launchers: set[int]) -> int:
    end = time.monotonic() + 20
    while time.monotonic() < end:
        for pid in harness.processes_with("gen.py"):
            try:
                if pid not in launchers and os.readlink(f"/proc/{pid}/cwd") == str(cwd):
                    parent = int(Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[1])
                    while parent not in launchers and parent > 1:
                        parent = int(Path(f"/proc/{parent}/stat").read_text().rsplit(")", 1)[1].split()[1])
                    if parent in launchers:
                        return parent
            except OSError:
                continue
        time.sleep(0.01)
    raise RuntimeError("none of the equal commands executes")


def recall(bench: Bench) -> Figure:
    bench.need("strace")
    environment = {**os.environ, "HALLMARK_BIN": HALLMARK}
    done = subprocess.run([sys.executable, "-B", PROJECT / "tests/scenarios/recall.py"], capture_output=True, text=True, env=environment)
    rows = re.findall(r"recall ([^:]+): (\d+) of (\d+)", done.stdout)
    if not rows:
        raise Unavailable(f"the recall scenario saw nothing: {done.stderr[-300:]}")
    found, wanted = (sum(int(row[i]) for row in rows) for i in (1, 2))
    return Figure("recall of inputs against `strace -f`", "100 %", f"{100 * found / wanted:.2f} % ({found} of {wanted})",
                  ", ".join(f"{name} {a}/{b}" for name, a, b in rows))


def cacheable_share(bench: Bench) -> Figure:
    bench.need("nvcc", "cmake", "ninja")
    source = workloads.cmake_cuda(bench.folder / "project")
    build = source / "build"
    bench.run(bench.forget(), source)
    launchers = [f"-DCMAKE_{language}_{kind}_LAUNCHER={HALLMARK};run;--" for language in ("CXX", "CUDA") for kind in ("COMPILER", "LINKER")]
    bench.run(["cmake", "-G", "Ninja", "-S", source, "-B", build, f"-DCMAKE_CUDA_COMPILER={harness.find_tool('nvcc')}",
               "-DCMAKE_CUDA_ARCHITECTURES=80", f"-DHALLMARK={HALLMARK}", *launchers], source)
    before = bench.counters() if Path(bench.environment["HALLMARK_STORE"]).exists() else {}
    bench.run(["ninja", "-C", build], source)
    cold = {name: bench.counters()[name] - before.get(name, 0) for name in harness.COUNTERS}
    bench.run(["ninja", "-C", build, "-t", "clean"], source)
    bench.run(["ninja", "-C", build], source)
    warm = {name: bench.counters()[name] - cold[name] - before.get(name, 0) for name in harness.COUNTERS}
    every = sum(warm.values())
    return Figure("cacheable commands of a CMake + CUDA build", ">= 99 %", f"{100 * warm['replayed'] / every:.1f} % ({warm['replayed']} of {every})",
                  f"cold: {cold['executed']} recorded; after a clean: {warm['replayed']} replayed, {every - warm['replayed']} executed")


def verify(bench: Bench) -> Figure:
    cwd = workloads.many_headers(bench.folder / "proof", HALLMARK, bench.run)
    told = json.loads(bench.run([HALLMARK, "why", "--json", "lib.so"], cwd).stdout)
    files = len({entry["path"] for step in told["steps"] for entry in step["inputs"]})
    if told["verdict"] != "FRESH":
        raise Unavailable(f"the library is {told['verdict']}")
    times = bench.compare({"verify": Side([HALLMARK, "verify", "lib.so"]), "why": Side([HALLMARK, "why", "lib.so"])}, cwd, bench.rounds(20))
    return Figure("verify / why of a library with 10,000 files behind it, warm", "<= 50 ms / <= 100 ms",
                  f"{milliseconds(times['verify'])} / {milliseconds(times['why'])}", f"{files} files, {len(told['steps'])} steps")


def audit(bench: Bench) -> Figure:
    bench.need("ninja", "gcc")
    cwd = workloads.many_edges(bench.folder / "edges", HALLMARK, bench.run)
    told = json.loads(bench.run([HALLMARK, "audit", ".", "--json"], cwd, check=False).stdout)
    if told["recorded"] != workloads.EDGES or not told["gaps"]:
        raise Unavailable(f"{told['recorded']} of {workloads.EDGES} edges are recorded")
    times = bench.compare({"audit": Side([HALLMARK, "audit", "."], fails=True)}, cwd, bench.rounds(20))
    return Figure(f"audit of {workloads.EDGES} edges from records, warm", "<= 1 s", milliseconds(times["audit"]),
                  f"{len(told['gaps'])} files that the build does not compare")


def offline(bench: Bench) -> Figure:
    measured, sizes = [], []
    for units in (4, 20):
        cwd = workloads.many_headers(bench.folder / f"offline{units}", HALLMARK, bench.run, units)
        bench.run([HALLMARK, "run", "--stamp", "--", "g++", "-shared", *(f"u{unit}.o" for unit in range(units)), "-o", "lib.so"], cwd)
        prefix = bench.folder / f"prefix{units}"
        prefix.mkdir()
        for name in ("lib.so", "lib.so.intoto.json"):
            shutil.copy(cwd / name, prefix)
        bench.run(["strip", prefix / "lib.so"], cwd)
        bench.run(bench.forget(), cwd)
        argv = [HALLMARK, "verify", prefix / "lib.so"]
        if "by its attestation" not in bench.run(argv, cwd).stdout:
            raise Unavailable("the library was not judged by its attestation")
        times = bench.compare({"verify": Side(argv)}, cwd, bench.rounds(20))
        cold = bench.compare({"cold": Side(argv, prepare=bench.forget())}, cwd, bench.rounds(5))
        measured.append(f"{500 * units} files: {milliseconds(times['verify'])}, when each must be hashed {milliseconds(cold['cold'])}")
        sizes.append(f"{(prefix / 'lib.so.intoto.json').stat().st_size >> 10} KiB")
    return Figure("verify of an installed, stripped library by its attestation", "<= 50 ms plus hashing", "; ".join(measured),
                  f"attestations of {' and '.join(sizes)}")


def test(bench: Bench) -> Figure:
    bench.need("g++")
    cwd = workloads.long_test(bench.folder / "test", HALLMARK, bench.run, 100_000_000)
    bench.run([HALLMARK, "test", "--", "./t"], cwd)
    times = bench.compare({"plain": Side(["./t"]), "test": Side([HALLMARK, "test", "--", "./t"])}, cwd, bench.rounds(7))
    return Figure("`hallmark test` / plain, a test program of 10 s", "<= 1.03", ratio(times, "test", "plain"),
                  f"plain {milliseconds(times['plain'])}, guarded {milliseconds(times['test'])}; it opens 10,000 files")


FIGURES = {
    "miss-nvcc": miss_nvcc,
    "miss-ninja": miss_ninja,
    "miss-gcc": miss_gcc,
    "hit-nvcc": hit_nvcc,
    "hit-gxx": hit_gxx,
    "recall": recall,
    "share": cacheable_share,
    "verify": verify,
    "offline": offline,
    "audit": audit,
    "test": test,
    "memory": memory,
    "equal": equal_commands,
}


# ---- the page --------------------------------------------------------------------------------------------------------


def machine() -> str:
    def first(argv, pattern=r"(.*)"):
        tool = harness.find_tool(argv[0])
        if not tool:
            return None
        text = subprocess.run([tool, *argv[1:]], capture_output=True, text=True).stdout
        found = re.search(pattern, text)
        return found[1] if found else None

    processor = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    memory_kib = re.search(r"MemTotal:\s+(\d+)", Path("/proc/meminfo").read_text())
    parts = [
        f"{os.cpu_count()} cores of {processor[1] if processor else platform.machine()}",
        f"{int(memory_kib[1]) // (1 << 20)} GiB",
        f"Linux {platform.release()}",
    ]
    for name, argv, pattern in (("g++", ["g++", "-dumpfullversion"], r"(\S+)"), ("nvcc", ["nvcc", "--version"], r"V(\d\S+)"),
                                ("ccache", ["ccache", "--version"], r"version (\S+)"), ("ninja", ["ninja", "--version"], r"(\S+)")):
        version = first(argv, pattern)
        if version:
            parts.append(f"{name} {version}")
    return ", ".join(parts)


def table(figures: list[Figure], missing: list[tuple[str, str]]) -> str:
    lines = ["| figure | to reach | measured | in detail |", "|---|---|---|---|"]
    lines += [f"| {f.name} | {f.reach} | {f.measured} | {f.detail} |" for f in figures]
    lines += [f"| {name} | | not measured | {why} |" for name, why in missing]
    return "\n".join(lines) + "\n"


BEGIN, END = "<!-- table: written by ./dev bench --write -->", "<!-- end of table -->"


def write_page(text: str) -> None:
    page = PROJECT / "docs/benchmarks.md"
    old = page.read_text() if page.exists() else f"# Benchmarks\n\n{BEGIN}\n{END}\n"
    head, _, rest = old.partition(BEGIN)
    _, _, tail = rest.partition(END)
    page.write_text(f"{head}{BEGIN}\n{text}{END}{tail or chr(10)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    if harness.find_tool("hyperfine") is None:
        sys.exit("hyperfine is not installed; ./dev bench installs it")
    figures, missing = [], []
    for name, measure in FIGURES.items():
        if arguments.only not in name:
            continue
        # Outside any git checkout, as a user's tree is outside hallmark's.
        folder = Path(os.path.realpath(tempfile.mkdtemp(prefix="hallmark-bench-")))
        try:
            print(f"measuring {name} ...", file=sys.stderr, flush=True)
            figures.append(measure(Bench(folder, arguments.quick)))
            print(f"  {figures[-1].measured}  ({figures[-1].detail})", file=sys.stderr, flush=True)
        except (Unavailable, RuntimeError) as reason:
            missing.append((name, str(reason).splitlines()[0]))
            print(f"  not measured: {reason}", file=sys.stderr, flush=True)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    text = f"\nMachine: {machine()}.\nReproduce: `./dev bench`.\n\n{table(figures, missing)}\n"
    print(text)
    if arguments.write:
        write_page(text)


if __name__ == "__main__":
    main()
