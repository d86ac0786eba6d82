"""The trees and commands that bench.py measures. Each function makes a folder and gives it back."""

from __future__ import annotations

import subprocess
from pathlib import Path


def _write(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


TRIVIAL_C = ["gcc", "-c", "t.c", "-o", "t.o"]


def trivial_c(folder: Path) -> Path:
    return _write(folder, {"t.c": "int t(int x) { return x + 1; }\n"})


def many_c(folder: Path, hallmark: str) -> Path:
    """100 files, each with a header or two, built by Ninja with and without hallmark."""
    files = {"common.h": "#include <stdio.h>\n#include <string.h>\n#define VALUE 1\n"}
    for i in range(100):
        files[f"f{i}.c"] = f'#include "common.h"\nint f{i}(const char* s) {{ return VALUE + {i} + (int)strlen(s); }}\n'
    rule = "rule cc\n  command = {}gcc -O1 -MD -MF $out.d -c $in -o $out\n  depfile = $out.d\n  deps = gcc\n"
    edges = "".join(f"build f{i}.o: cc ../f{i}.c\n" for i in range(100))
    files["plain.ninja"] = rule.format("") + edges
    files["under.ninja"] = rule.format(f"{hallmark} run -- ") + edges
    return _write(folder, files)


CPP_HEADERS = ["g++", "-O0", "-MD", "-MF", "t.d", "-c", "t.cpp", "-o", "t.o"]


def cpp_headers(folder: Path) -> Path:
    return _write(folder, {"t.cpp": "#include <regex>\n#include <iostream>\n#include <thread>\n#include <future>\n#include <filesystem>\n"
                                    "int t() { return 1; }\n"})


CUDA_HEADERS = ["nvcc", "-arch=sm_80", "-std=c++17", "-MD", "-MF", "t.d", "-c", "t.cu", "-o", "t.o"]


def cuda_headers(folder: Path) -> Path:
    """A small kernel behind a header of CCCL that draws in a thousand others."""
    return _write(folder, {"t.cu": "#include <cub/device/device_reduce.cuh>\n__global__ void k(int* p) { *p = 1; }\n"})


CUDA_HEAVY = ["nvcc", "-arch=sm_80", "-std=c++17", "-O3", "-c", "h.cu", "-o", "h.o"]


def cuda_heavy(folder: Path) -> Path:
    """A unit that takes ten seconds and more, nearly all of it in cicc and ptxas: CUB's radix sort for several types."""
    types = ("unsigned", "unsigned long long")
    calls = "".join(f"void sort_{i}(void* t, size_t& n, const {name}* in, {name}* out, int count) "
                    f"{{ cub::DeviceRadixSort::SortKeys(t, n, in, out, count); }}\n" for i, name in enumerate(types))
    return _write(folder, {"h.cu": f"#include <cub/device/device_radix_sort.cuh>\n{calls}"})


def path_events(folder: Path, compiler: str) -> Path:
    """A program that makes N path events on M names, half of them absent."""
    _write(folder, {"events.c": r"""
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
int main(int argc, char** argv) {
  long events = atol(argv[1]), names = atol(argv[2]);
  char path[64];
  struct stat info;
  for (long i = 0; i < events; ++i) {
    snprintf(path, sizeof path, "names/dir%02ld/header-%ld.h", i % names % 97, i % names);
    stat(path, &info);
  }
  return argc != 3;
}
"""})
    for i in range(97):
        (folder / f"names/dir{i:02}").mkdir(parents=True)
    subprocess.run([compiler, "-O1", "events.c", "-o", "events"], cwd=folder, check=True)
    return folder


def slow_generator(folder: Path) -> Path:
    return _write(folder, {"gen.py": "import sys, time\ntime.sleep(float(sys.argv[1]))\nopen('out.txt', 'w').write('made')\n"})


def cmake_cuda(folder: Path) -> Path:
    """A kernel library as they are built: generated kernels, a static and a shared library, a test program."""
    files = {
        "include/config.h": "#define SCALE 2\n",
        "gen.py": "import sys\nfor i in range(6):\n    open(f'{sys.argv[1]}/gen{i}.cu', 'w').write("
                  "f'#include \"config.h\"\\n__global__ void gen{i}(float* p) {{{{ p[threadIdx.x] *= SCALE + {i}; }}}}\\n'.replace('{{', '{').replace('}}', '}'))\n",
        "host.cpp": '#include "config.h"\n#include <vector>\nint host() { return std::vector<int>(SCALE).size(); }\n',
        "main.cpp": "int host();\nint main() { return host() - 2; }\n",
        "CMakeLists.txt": """\
cmake_minimum_required(VERSION 3.20)
project(kernels CXX CUDA)
set(generated)
foreach(i RANGE 5)
  list(APPEND generated ${CMAKE_CURRENT_BINARY_DIR}/gen${i}.cu)
endforeach()
add_custom_command(OUTPUT ${generated}
  COMMAND ${HALLMARK} run --depfile gen.d --output ${CMAKE_CURRENT_BINARY_DIR} -- python3 ${CMAKE_SOURCE_DIR}/gen.py ${CMAKE_CURRENT_BINARY_DIR}
  DEPFILE gen.d)
file(GLOB kernels ${CMAKE_SOURCE_DIR}/k*.cu)
add_library(kernels STATIC ${kernels} ${generated} host.cpp)
target_include_directories(kernels PUBLIC include)
add_executable(check main.cpp)
target_link_libraries(check kernels)
""",
    }
    for i in range(14):
        files[f"k{i}.cu"] = f'#include "config.h"\n__global__ void k{i}(float* p) {{ p[threadIdx.x] += SCALE * {i}; }}\n'
    return _write(folder, files)


def many_headers(folder: Path, hallmark: str, run, units: int = 20) -> Path:
    """lib.so, made under `hallmark` of objects with 500 headers each, all of them different."""
    for unit in range(units):
        (folder / f"u{unit}").mkdir(parents=True)
        for header in range(500):
            (folder / f"u{unit}/h{unit}_{header}.h").write_text(f"#define H{unit}_{header} 1\n")
        includes = "".join(f'#include "h{unit}_{header}.h"\n' for header in range(500))
        (folder / f"u{unit}/u.cpp").write_text(includes + f"int f{unit}() {{ return 0; }}\n")
    objects = [f"u{unit}.o" for unit in range(units)]
    for unit, made in enumerate(objects):
        run([hallmark, "run", "--", "g++", "-fPIC", "-c", f"u{unit}/u.cpp", "-o", made], folder)
    run([hallmark, "run", "--", "g++", "-shared", *objects, "-o", "lib.so"], folder)
    return folder


EDGES = 1000


def many_edges(folder: Path, program: str, run) -> Path:
    """EDGES C files with 40 headers each, compiled by a rule that orders no dependency file, and recorded."""
    (folder / "inc").mkdir(parents=True)
    for n in range(40):
        (folder / f"inc/h{n}.h").write_text(f"#pragma once\n#define H{n} {n}\n")
    includes = "".join(f'#include "h{n}.h"\n' for n in range(40))
    lines = [f"rule cc\n  command = {program} run -- gcc -Iinc -c $in -o $out\n"]
    for n in range(EDGES):
        (folder / f"f{n}.c").write_text(f"{includes}int f{n}(void) {{ return H1; }}\n")
        lines.append(f"build f{n}.o: cc f{n}.c\n")
    (folder / "build.ninja").write_text("".join(lines))
    run(["ninja"], folder)
    return folder


LONG_TEST = """\
#include <gtest/gtest.h>
#include <cmath>
#include <fstream>
class Long : public testing::TestWithParam<int> {};
TEST_P(Long, ComputesAndReads) {
  double sum = 0;
  for (int i = 0; i < WORK; ++i) sum += std::sin(i * 0.001);
  for (int i = 0; i < 1000; ++i) sum += std::ifstream("data.txt").get();
  EXPECT_GT(sum, 0);
}
INSTANTIATE_TEST_SUITE_P(All, Long, testing::Range(0, 10));
"""


def long_test(folder: Path, hallmark: str, run, work: int) -> Path:
    """A recorded program of GoogleTest that computes, and reads 10,000 files on the way."""
    _write(folder, {"t.cpp": LONG_TEST, "data.txt": "1"})
    run([hallmark, "run", "--", "g++", "-O1", f"-DWORK={work}", "t.cpp", "-o", "t", "-lgtest", "-lgtest_main", "-lpthread"], folder)
    return folder
