"""`hallmark test`: a green that means nothing is refused.

Today a filter that matches nothing, a shard past the last test, an empty build folder and a library that nobody rebuilt all
end with exit code 0.
"""

import json
import pathlib
import shutil
import sys
import sysconfig

from harness import Scenario, main, needs

TESTS = """\
#include <gtest/gtest.h>
#include <cstdlib>
int width();
TEST(Attn, Forward) { EXPECT_GT(width(), 0); }
TEST(Attn, Device) { GTEST_SKIP() << "no device"; }
TEST(Attn, DISABLED_Backward) { FAIL(); }
TEST(Broken, Fails) { EXPECT_EQ(width(), 0); }
TEST(Early, Exits) { std::_Exit(0); }
struct Device : testing::Environment {
  void SetUp() override { if (std::getenv("NO_DEVICE")) GTEST_SKIP() << "no device"; }
};
const auto* device = testing::AddGlobalTestEnvironment(new Device);
"""

EXTENSION = """\
#include <Python.h>
static PyObject* v(PyObject* self, PyObject* none) { return PyLong_FromLong(%d); }
static PyMethodDef methods[] = {{"v", v, METH_NOARGS, ""}, {0}};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "kext", 0, -1, methods};
PyMODINIT_FUNC PyInit_kext() { return PyModule_Create(&module); }
"""


class TestGuard(Scenario):
    def told(self, *argv, options=(), code: int, env=None, cwd=None) -> dict:
        done = self.verb("test", "--json", *options, "--", *argv, code=code, env=env, cwd=cwd)
        return json.loads(done.err.splitlines()[-1])

    def refused(self, *argv, options=(), code=1, env=None, cwd=None) -> list[str]:
        return [r["kind"] for r in self.told(*argv, options=options, code=code, env=env, cwd=cwd)["refusals"]]

    def write_tests(self):
        self.write_all({"kernel.h": "#define WIDTH 1\n", "kernel.cpp": '#include "kernel.h"\nint width() { return WIDTH; }\n',
                        "unrelated.h": "", "tests.cpp": TESTS})
        self.build_library()
        self.hallmark(["g++", "-c", "tests.cpp", "-o", "tests.o"])
        self.hallmark(["g++", "tests.o", "-o", "tests", "-L.", "-lkernel", "-lgtest", "-lgtest_main", "-lpthread", f"-Wl,-rpath,{self.tree}"])

    def build_library(self):
        self.hallmark(["g++", "-fPIC", "-c", "kernel.cpp", "-o", "kernel.o"])
        self.hallmark(["g++", "-shared", "kernel.o", "-o", "libkernel.so"])

    good = ("./tests", "--gtest_filter=Attn.*")

    @needs("g++")
    def test_gtest(self):
        self.write_tests()
        told = self.told(*self.good, code=0)
        self.assertEqual({"passed": 1, "failed": 0, "skipped": 2}, told["tests"])
        self.assertEqual({"FRESH"}, {one["verdict"] for one in told["loaded"]})
        self.assertEqual({"libkernel.so", "tests"}, {one["artifact"].split("/")[-1] for one in told["loaded"]})

        self.assertEqual(["nothing_ran"], self.refused("./tests", "--gtest_filter=Attention.*"))
        self.assertEqual(["all_skipped"], self.refused("./tests", "--gtest_filter=Attn.Device"))
        shard = {"GTEST_TOTAL_SHARDS": "9", "GTEST_SHARD_INDEX": "7"}
        self.assertEqual(["nothing_ran"], self.refused("./tests", env=shard))
        self.assertEqual(["too_few"], self.refused(*self.good, options=("--min-tests", "2")))
        self.assertEqual([], self.refused("./tests", "--gtest_filter=-Early.*", code=1), "a red run is red by itself")

    @needs("g++")
    def test_gtest_that_says_more_than_it_did(self):
        self.write_tests()
        self.assertEqual(["all_skipped"], self.refused(*self.good, env={"NO_DEVICE": "1"}), "the environment skipped all: it says passed")
        self.assertEqual(["all_skipped"], self.refused("./tests", "--gtest_list_tests"))
        self.assertEqual(["no_report"], self.refused("./tests", "--gtest_filter=Attn.*:Early.*"), "exit(0) in a test")
        broken = "./tests --gtest_filter=Broken.*"
        self.assertEqual(["hidden_failure"], self.refused("sh", "-c", f"{broken} || true"))
        self.assertEqual(["hidden_failure"], self.refused("sh", "-c", f"{broken}; {' '.join(self.good)}"))
        # Its own report is read where it was asked for.
        self.assertEqual([], self.refused(*self.good, "--gtest_output=xml:own.xml", code=0))
        self.assertEqual(["nothing_ran"], self.refused("./tests", "--gtest_filter=None.*", "--gtest_output=xml:own.xml"))

    @needs("python3")
    def test_unittest(self):
        self.write("test_it.py", "import unittest\nclass T(unittest.TestCase):\n  def test_a(self): pass\n"
                                 "  @unittest.skip('no device')\n  def test_b(self): pass\n")
        told = self.told("python3", "-m", "unittest", "test_it", code=0)
        self.assertEqual({"passed": 1, "failed": 0, "skipped": 1}, told["tests"])
        self.assertEqual(["all_skipped"], self.refused("python3", "-m", "unittest", "-k", "test_b", "test_it"))
        self.assertEqual(["nothing_ran"], self.refused("sh", "-c", "python3 -m unittest -k none test_it || true"))

    @needs("g++")
    def test_the_commands_own_ways_pass_through(self):
        self.write_tests()
        done = self.verb("test", "--", *self.good)
        self.assertIn("[  PASSED  ] 1 test.", done.out)
        self.assertIn("hallmark: 1 of 3 tests ran", done.err)
        self.assertEqual(7, self.verb("test", "--", "sh", "-c", "exit 7", code=7).code)
        self.assertEqual(143, self.verb("test", "--", "sh", "-c", "kill -TERM $$", code=143).code)
        self.verb("test", "--", "no-such-command", code=127)
        for wrong in (("test",), ("test", "--"), ("test", "--covers", "none", "--", "true"), ("test", "--min-tests", "x", "--", "true")):
            self.verb(*wrong, code=2)
        own = self.box / "mine.xml"
        self.assertEqual([], self.refused(*self.good, code=0, env={"GTEST_OUTPUT": f"xml:{own}"}))
        self.assertIn("testsuites", own.read_text(), "who asks for a report himself gets it")
        self.assertEqual([], list(self.scratch.iterdir()), "our own reports are gone")

    def test_no_report(self):
        self.assertEqual(["no_report"], self.refused("true"))
        self.assertEqual([], self.refused("true", options=("--min-tests", "0"), code=0))

    @needs("g++")
    def test_a_stale_library(self):
        self.write_tests()
        self.write("kernel.h", "#define WIDTH 2\n")
        told = self.told(*self.good, code=1)
        self.assertEqual(["stale", "stale"], [r["kind"] for r in told["refusals"]])
        self.assertIn("kernel.h changed", told["refusals"][0]["what"])
        self.build_library()
        told = self.told(*self.good, code=0)
        self.assertEqual({"libkernel.so": "FRESH", "tests": "STALE"}, {one["artifact"].split("/")[-1]: one["verdict"] for one in told["loaded"]},
                         "linked with the earlier library, but it loads the new one: no reason to refuse")

    @needs("g++")
    def test_another_copy_is_loaded(self):
        self.write_tests()
        old = self.box / "old"
        old.mkdir()
        shutil.copy(self.path("libkernel.so"), old)
        demand = ("--must-load", "libkernel.so")
        self.assertEqual([], self.refused(*self.good, options=demand, code=0))
        self.assertEqual(["shadowed"], self.refused("env", f"LD_LIBRARY_PATH={old}", *self.good, options=demand))
        self.write("libother.so", "never loaded")
        self.assertEqual(["not_loaded"], self.refused(*self.good, options=("--must-load", "libother.so")))

    @needs("g++")
    def test_another_copy_shadows_what_was_built(self):
        """Nobody names the library: that another copy was loaded is found all the same."""
        self.write_tests()
        old = self.box / "old"
        old.mkdir()
        shutil.copy(self.path("libkernel.so"), old)
        self.assertEqual([], self.refused(*self.good, env={"LD_LIBRARY_PATH": str(old)}, code=0), "the same bytes")
        self.write("kernel.h", "#define WIDTH 2\n")
        self.build_library()
        told = self.told(*self.good, env={"LD_LIBRARY_PATH": str(old)}, code=1)
        whats = {r["kind"]: r["what"] for r in told["refusals"]}
        self.assertEqual({"shadowed", "stale"}, set(whats), "the copy is stale, too: its making is known")
        self.assertIn(f"{old}/libkernel.so was loaded, not {self.path('libkernel.so')}, which is newer", whats["shadowed"])
        self.assertEqual([], self.refused(*self.good, env={"LD_LIBRARY_PATH": str(self.tree)}, code=0))

    @needs("g++")
    def test_an_extension_of_python_under_an_older_name(self):
        include = sysconfig.get_paths()["include"]
        if not (pathlib.Path(include) / "Python.h").exists():
            self.skipTest("no headers of Python")
        tagged = "kext" + sysconfig.get_config_var("EXT_SUFFIX")
        self.write("test_kext.py", "import kext, unittest\nclass T(unittest.TestCase):\n  def test_v(self): kext.v()\n")
        for version, name in ((1, tagged), (2, "kext.so")):
            self.write("kext.c", EXTENSION % version)
            self.hallmark(["gcc", "-shared", "-fPIC", f"-I{include}", "kext.c", "-o", name])
        told = self.told(sys.executable, "-m", "unittest", "test_kext", code=1)
        self.assertEqual(["shadowed", "stale"], sorted(r["kind"] for r in told["refusals"]), told)
        self.assertIn(f"{tagged} was loaded, not", next(r["what"] for r in told["refusals"] if r["kind"] == "shadowed"))
        self.path(tagged).unlink()
        self.assertEqual([], self.refused(sys.executable, "-m", "unittest", "test_kext", code=0))

        # The same module in two folders of PYTHONPATH.
        (self.box / "site").mkdir()
        self.write("../site/kext.c", EXTENSION % 1)
        self.hallmark(["gcc", "-shared", "-fPIC", f"-I{include}", "../site/kext.c", "-o", "../site/kext.so"])
        self.write("kext.c", EXTENSION % 3)
        self.hallmark(["gcc", "-shared", "-fPIC", f"-I{include}", "kext.c", "-o", "kext.so"])
        self.write("tests/test_kext.py", self.path("test_kext.py").read_text())
        paths = {"PYTHONPATH": f"{self.box}/site:{self.tree}"}
        command = (sys.executable, "-m", "unittest", "test_kext")
        self.assertEqual(["shadowed"], self.refused(*command, env=paths, cwd=self.path("tests")))
        paths = {"PYTHONPATH": f"{self.tree}:{self.box}/site"}
        self.assertEqual([], self.refused(*command, env=paths, cwd=self.path("tests"), code=0))

    @needs("g++")
    def test_what_the_test_can_see(self):
        self.write_tests()
        for file in ("kernel.h", "kernel.cpp", "tests.cpp", "libkernel.so"):
            self.assertEqual([], self.refused(*self.good, options=("--covers", file), code=0), file)
        told = self.told(*self.good, options=("--covers", "kernel.h", "--covers", "unrelated.h"), code=1)
        self.assertEqual(["not_covered"], [r["kind"] for r in told["refusals"]])
        self.assertIn("unrelated.h", told["refusals"][0]["what"])

    @needs("ctest", "cmake", "ninja", "g++")
    def test_ctest(self):
        self.write_tests()
        self.write("CMakeLists.txt", """\
cmake_minimum_required(VERSION 3.20)
project(p CXX)
enable_testing()
add_test(NAME right COMMAND ${CMAKE_SOURCE_DIR}/tests --gtest_filter=Attn.*)
add_test(NAME script COMMAND true)
add_test(NAME breaks_off COMMAND ${CMAKE_SOURCE_DIR}/tests --gtest_filter=Early.*)
add_test(NAME own COMMAND ${CMAKE_SOURCE_DIR}/tests --gtest_filter=Attention.* --gtest_output=xml:own.xml)
add_test(NAME wants_failure COMMAND ${CMAKE_SOURCE_DIR}/tests --gtest_filter=Broken.*)
set_tests_properties(wants_failure PROPERTIES WILL_FAIL TRUE)
add_test(NAME outdated COMMAND ${CMAKE_SOURCE_DIR}/tests --gtest_filter=Attention.*)
""")
        self.run_plain(["cmake", "-G", "Ninja", "-S", ".", "-B", "build"])
        told = self.told("ctest", "--test-dir", "build", "-R", "right|script", code=0)
        self.assertEqual({"passed": 2, "failed": 0, "skipped": 2}, told["tests"], "one in the program, and the script")
        self.assertEqual(["nothing_ran"], self.refused("ctest", "--test-dir", "build", "-R", "outdated|right"))
        self.assertEqual(["broke_off"], self.refused("ctest", "--test-dir", "build", "-R", "breaks_off"))
        self.assertEqual(["nothing_ran"], self.refused("ctest", "--test-dir", "build", "-R", "own|script"))
        self.assertEqual([], self.refused("ctest", "--test-dir", "build", "-R", "wants_failure", code=0))
        self.assertEqual(["nothing_ran"], self.refused("ctest", "--test-dir", "build", "-R", "no_such_test"))
        (self.tree / "empty").mkdir()
        self.assertEqual(["nothing_ran"], self.refused("ctest", cwd=self.tree / "empty"))
        # Behind another command its summary is read.
        self.assertEqual([], self.refused("sh", "-c", "ctest --test-dir build -R script", code=0))
        self.assertEqual(["nothing_ran"], self.refused("sh", "-c", "ctest --test-dir build -R no_such_test"))

    @needs("g++")
    def test_not_observed(self):
        self.write_tests()
        for env in ({"HALLMARK_OBSERVE": "none"}, {"HALLMARK_DISABLE": "1"}):
            self.assertEqual([], self.refused(*self.good, code=0, env=env))
            self.assertEqual(["not_observed"], self.refused(*self.good, options=("--must-load", "libkernel.so"), env=env))

    @needs("pytest")
    def test_a_temporary_folder_with_blanks_and_quotes(self):
        odd = self.box / "it's a folder"
        odd.mkdir()
        self.write("test_it.py", "def test_a(): pass\n")
        told = self.told("pytest", "test_it.py", code=0, env={"TMPDIR": str(odd)})
        self.assertEqual({"passed": 1, "failed": 0, "skipped": 0}, told["tests"])

    @needs("pytest")
    def test_pytest(self):
        self.write("test_it.py", "import pytest\ndef test_a(): pass\n@pytest.mark.skip\ndef test_b(): pass\n")
        told = self.told("pytest", "-p", "no:cacheprovider", "test_it.py", code=0)
        self.assertEqual({"passed": 1, "failed": 0, "skipped": 1}, told["tests"])
        self.assertEqual([], self.refused("pytest", "--junit-xml=own.xml", "test_it.py", code=0))
        self.assertEqual(["all_skipped"], self.refused("pytest", "-k", "test_b", "test_it.py"))
        self.assertEqual([], self.refused("pytest", "-k", "none", "test_it.py", code=5), "pytest itself says so")
        self.assertEqual(["nothing_ran"], self.refused("sh", "-c", "pytest -k none test_it.py || true"))
        # Each run writes its report to the same place.
        told = self.told("sh", "-c", "pytest test_it.py && pytest -k test_a test_it.py", code=0)
        self.assertEqual({"passed": 2, "failed": 0, "skipped": 1}, told["tests"])
        self.write("test_bad.py", "def test_c(): assert False\n")
        self.assertEqual(["hidden_failure"], self.refused("sh", "-c", "pytest test_bad.py; pytest test_it.py"))

    @needs("g++")
    def test_which_tests_can_see_a_file(self):
        self.write_tests()
        self.write("other.cpp", "int main() {}\n")
        self.write("build.ninja", "rule link\n  command = link\nbuild tests: link tests.o\nbuild other: link other.o\n")
        self.hallmark(["g++", "other.cpp", "-o", "other"])
        which = lambda file, code=0: json.loads(self.verb("which-tests", file, "--json", code=code).out)["programs"]
        told = [(one["program"].split("/")[-1], one["ran"]) for one in which("kernel.h")]
        self.assertEqual([("tests", False)], told, "its link tells")
        self.assertEqual(["other"], [one["program"].split("/")[-1] for one in which("other.cpp")])
        self.assertEqual([], which("unrelated.h", code=1))
        self.assertIn("no test program is known", self.verb("which-tests", "unrelated.h", code=1).err)
        self.verb("which-tests", "none.h", code=2)
        done = self.verb("test", "--min-tests", "0", "--covers", "kernel.h", "--", "./other", code=1)
        self.assertIn(f"these programs can: {self.tree}/tests", done.err)

    @needs("g++")
    def test_a_library_that_is_loaded_at_run_time(self):
        """No link tells of it (a provider that the framework opens): a run under `hallmark test` does."""
        self.write_all({"k.h": "#define K 1\n", "k.cpp": '#include "k.h"\nextern "C" int k() { return K; }\n',
                        "t.cpp": '#include <dlfcn.h>\nint main() { return dlopen("./libk.so", RTLD_NOW) == nullptr; }\n'})
        self.hallmark(["g++", "-shared", "-fPIC", "k.cpp", "-o", "libk.so"])
        self.hallmark(["g++", "t.cpp", "-o", "t"])
        self.verb("which-tests", "k.h", code=1)
        self.verb("test", "--min-tests", "0", "--", "./t")
        self.assertEqual("t (via libk.so)\n", self.verb("which-tests", "k.h").out)


if __name__ == "__main__":
    main()
