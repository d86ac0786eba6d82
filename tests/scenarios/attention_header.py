"""The whole story of a fused-attention header: it is edited, the build says that there is nothing to do, and the test is green.

The kernels lie in a shared provider library and include the header through a folder that the dependency file leaves out
(-isystem with -MMD). The test program loads the provider and is never linked again. Without hallmark nobody notices; `verify`,
`audit` and `test` do, without a record; with the launcher on, the build is right and all three pass.
"""

import json

import kits
from harness import Scenario, main, needs, with_kits

KERNEL = """\
#include <kernel_forward.h>
extern "C" int tile_{n}() {{ return TILE * {n}; }}
"""

TEST = """\
#include <gtest/gtest.h>
extern "C" int tile_1();
extern "C" int tile_2();
TEST(Attention, Forward) { EXPECT_GT(tile_1() + tile_2(), 0); }
TEST(Attention, Tile) { std::printf("tile %d\\n", tile_1()); }
"""

CMAKE = """\
cmake_minimum_required(VERSION 3.21)
set(CMAKE_CUDA_ARCHITECTURES 80)
project(attention {languages})
set(CMAKE_DEPFILE_FLAGS_{language} "-MMD -MT <DEP_TARGET> -MF <DEP_FILE>")
add_library(provider SHARED forward.{end} backward.{end})
target_include_directories(provider SYSTEM PRIVATE third_party/attention)
add_executable(attention_test attention_test.cpp)
target_link_libraries(attention_test provider gtest gtest_main pthread)
set_property(TARGET attention_test PROPERTY LINK_DEPENDS_NO_SHARED ON)
"""


class AttentionHeader(Scenario):
    @needs("cmake", "ninja", "g++")
    @with_kits("gxx", "nvcc")
    def test_story(self, kit):
        language, end = ("CUDA", "cu") if kit.name == "nvcc" else ("CXX", "cpp")
        self.write_all({
            ".git/HEAD": "",
            "third_party/attention/kernel_forward.h": "#pragma once\n#include \"tile.h\"\n",
            "third_party/attention/tile.h": "#define TILE 1\n",
            f"forward.{end}": KERNEL.format(n=1), f"backward.{end}": KERNEL.format(n=2),
            "attention_test.cpp": TEST,
            "CMakeLists.txt": CMAKE.format(languages="CXX" if language == "CXX" else "CXX CUDA", language=language, end=end),
        })
        header = "third_party/attention/tile.h"
        self.configure()
        self.ninja("-C", "b")
        self.assertEqual("1", self.tile())
        self.assertEqual({"provider": "UNKNOWN", "attention_test": "UNKNOWN"}, self.verdicts(1), "nothing was recorded: no proof")
        self.assertEqual({"provider": "FRESH", "attention_test": "FRESH"}, self.verdicts(0, "--weak"))

        # The edit. The build says that all is well.
        self.write(header, "#define TILE 2\n")
        self.assert_no_work(self.ninja("-C", "b"))
        self.assertEqual("1", self.tile(), "the test is green, of the old kernel")
        self.assertEqual({"provider": "STALE", "attention_test": "STALE"}, self.verdicts(1))
        (told, _) = self.told
        self.assertTrue(told["chain"][-1]["differences"][0]["subject"].endswith("/tile.h"))
        self.assertEqual(["libprovider.so", f"forward.{end}.o"], [step["output"].split("/")[-1] for step in told["chain"]])
        gaps = self.audit(1)["gaps"]
        self.assertEqual({"kernel_forward.h", "tile.h"}, {gap["file"].split("/")[-1] for gap in gaps})
        self.assertEqual({f"forward.{end}.o", f"backward.{end}.o"}, {r["output"].split("/")[-1] for r in gaps[0]["readers"]})
        self.assertIn(f"CMAKE_{language}_COMPILER_LAUNCHER", self.verb("audit", "b", "--fix", code=1).out)
        done = self.verb("test", "--covers", header, "--", "b/attention_test", code=1)
        self.assertIn("libprovider.so is stale", done.err)
        self.assertIn("tile.h", done.err)

        # The launcher on. (CMake has no linker launcher for CUDA.)
        self.write("launch.cmake", f'set_property(GLOBAL PROPERTY RULE_LAUNCH_LINK "{self.program} run --")\n')
        self.configure("-DCMAKE_PROJECT_INCLUDE=launch.cmake",
                       *(f"-DCMAKE_{name}_COMPILER_LAUNCHER={self.program};run;--" for name in sorted({language, "CXX"})))
        self.ninja("-C", "b")
        self.all_pass(header, "2")
        self.write(header, "#define TILE 3\n")
        self.assertEqual({"provider": "STALE", "attention_test": "STALE"}, self.verdicts(1))
        self.verb("test", "--", "b/attention_test", code=1)
        self.ninja("-C", "b")
        self.all_pass(header, "3")

    def configure(self, *options):
        self.run_plain(["cmake", "-G", "Ninja", "-S", ".", "-B", "b", "-DCMAKE_BUILD_TYPE=", *options])

    def tile(self) -> str:
        return self.run_plain(["b/attention_test"]).out.split("tile ")[1].split()[0]

    def verdicts(self, code: int, *options) -> dict:
        done = self.verb("verify", "--json", *options, "b/libprovider.so", "b/attention_test", code=code)
        self.told = json.loads(done.out)["artifacts"]
        return dict(zip(("provider", "attention_test"), (one["verdict"] for one in self.told)))

    def audit(self, code: int, *options) -> dict:
        return json.loads(self.verb("audit", "b", "--json", *options, code=code).out)

    def all_pass(self, header: str, tile: str):
        self.assertEqual(tile, self.tile())
        self.assertEqual({"provider": "FRESH", "attention_test": "FRESH"}, self.verdicts(0))
        self.assertEqual([], [gap for gap in self.audit(0)["gaps"] if not gap["system"]])
        self.verb("test", "--covers", header, "--", "b/attention_test")


if __name__ == "__main__":
    main()
