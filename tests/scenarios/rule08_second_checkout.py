"""Soundness rule 8: the same sources in another folder: results are shared where they cannot differ, and only there.

Today: absolute paths in the key give a second checkout no hits, and nvcc's long options make a command uncacheable
(vllm-project/vllm PR#24287, ccache/ccache#1663).
"""

import shutil

import kits
from harness import PYTHON, Scenario, main, needs, with_kits


class SecondCheckout(Scenario):
    def checkouts(self, files: dict[str, str]):
        """Two equal project trees; each is a root by its .hallmark folder. (A name of one letter is found in each object:
        a script in front of the compiler would then count as one that shows it.)"""
        for name in ("north", "south"):
            self.write_all({f"{name}/{file}": text for file, text in files.items()})
            self.path(f"{name}/.hallmark").mkdir()
        return self.path("north"), self.path("south")

    @with_kits("gxx", "clang", "nvcc", "hipcc")
    def test_absolute_include_folders(self, kit):
        source = f"k{kit.suffix}"
        first, second = self.checkouts({"inc/k.h": "#define VAL 1\n", source: kit.text("k.h")})
        with self.expect(executed=1):
            self.hallmark(kit.compile(source, "k.o", f"-I{first}/inc"), cwd=first)
        with self.expect(executed=0, replayed=1, why="no path is in the object"):
            self.hallmark(kit.compile(source, "k.o", f"-I{second}/inc"), cwd=second)
        self.assertEqual("1", kits.mark(second / "k.o"))
        self.assertEqual(kit.normal((first / "k.o").read_bytes()), kit.normal((second / "k.o").read_bytes()))
        self.write(second / "inc/k.h", "#define VAL 2\n")
        self.hallmark(kit.compile(source, "k.o", f"-I{second}/inc"), cwd=second)
        self.assertEqual("2", kits.mark(second / "k.o"), "each checkout has its own inputs")

    @with_kits("gxx", "clang")
    def test_root_in_the_object(self, kit):
        """With -g the object names its folder: the second checkout must compile, and get its own path."""
        first, second = self.checkouts({"inc/k.h": "#define VAL 1\n", "k.cpp": kit.text("k.h")})
        for root in (first, second):
            with self.expect(executed=1, why="the object holds the root"):
                self.hallmark(kit.compile("k.cpp", "k.o", "-g", f"-I{root}/inc"), cwd=root)
            self.assertIn(str(root).encode(), (root / "k.o").read_bytes())
        for root in (first, second):
            with self.expect(executed=0, replayed=1, why="each root has its own record"):
                self.hallmark(kit.compile("k.cpp", "k.o", "-g", f"-I{root}/inc"), cwd=root)
            self.assertIn(str(root).encode(), (root / "k.o").read_bytes())

    def test_a_root_that_tools_escape(self):
        """gcc writes a blank as `\\ ` into dependency files, other bytes than ASCII in octal into assembly."""
        for name in ("co 1", "co 2", "ä1", "ä2"):
            root = self.path(name)
            self.write_all({f"{name}/a.c": "const char* f = __FILE__;\n"})
            (root / ".hallmark").mkdir()
            for command in (["gcc", "-M", f"{root}/a.c"], ["gcc", "-S", "-o", "-", f"{root}/a.c"]):
                self.assertEqual(self.run_plain(command, cwd=root).out, self.hallmark(command, cwd=root).out)

    def test_the_name_of_the_root_on_stdout(self):
        """A script takes its project's name from the folder."""
        for name in ("project", "second", "project"):
            root = self.path(name)
            (root / ".hallmark").mkdir(parents=True, exist_ok=True)
            done = self.hallmark(["sh", "-c", "echo ${PWD##*/}; echo x"], "--cache", cwd=root)
            self.assertEqual(f"{name}\nx\n", done.out)
            self.hallmark(["sh", "-c", "echo same"], "--cache", cwd=root)
        self.assertEqual(3, self.counts().executed, "what does not show the name is shared")

    @with_kits("gxx", "clang")
    def test_one_checkout_under_two_names(self, kit):
        """A compiler that writes the working folder takes its name from PWD: the link's, if one came through a link."""
        first, _ = self.checkouts({"k.cpp": "int k = 1;\n"})
        link = self.path("link")
        link.symlink_to(first)
        for _ in range(2):
            for name, other in ((first, link), (link, first)):
                self.hallmark(kit.compile("k.cpp", "k.o", "-g"), cwd=name, env={"PWD": str(name)})
                bytes = (first / "k.o").read_bytes()
                self.assertIn(str(name).encode() + b"\0", bytes)
                self.assertNotIn(str(other).encode() + b"\0", bytes)
                done = self.hallmark(["sh", "-c", "pwd"], "--cache", cwd=name, env={"PWD": str(name)})
                self.assertEqual(f"{name}\n", done.out)
        self.assertEqual(4, self.counts().executed, "each name has its own results")
        with self.expect(executed=0, replayed=1, why="without PWD a compiler takes the folder's own name"):
            self.hallmark(kit.compile("k.cpp", "k.o", "-g"), cwd=first, env={"PWD": None})

    @with_kits("gxx", "clang")
    def test_compressed_debug_information(self, kit):
        """-gz hides the root from a search for its text; it counts all the same."""
        first, second = self.checkouts({"inc/k.h": "#define VAL 1\n", "k.cpp": kit.text("k.h")})
        for root in (first, second):
            self.hallmark(kit.compile("k.cpp", "k.o", "-g", "-gz", f"-I{root}/inc"), cwd=root)
        shown = self.run_plain(["readelf", "--debug-dump=info,line-str,str", second / "k.o"]).out
        self.assertIn(str(second), shown)
        self.assertNotIn(str(first), shown)

    @with_kits("nvcc")
    def test_line_information_in_device_code(self, kit):
        """-lineinfo puts the source path into the fat binary, compressed."""
        first, second = self.checkouts({"k.cu": "__global__ void k(int* p) { *p = 1; }\n"})
        for root in (first, second):
            self.hallmark(["nvcc", "-arch=sm_80", "-lineinfo", "-c", f"{root}/k.cu", "-o", "k.o"], cwd=root)
        with self.fresh_copy():
            self.run_plain(["nvcc", "-arch=sm_80", "-lineinfo", "-c", f"{second}/k.cu", "-o", "k.o"], cwd=second)
            wanted = kits.device_code(second / "k.o")
        self.assertEqual(wanted, kits.device_code(second / "k.o"), "device code of a plain build in the second checkout")

    def test_root_on_stdout(self):
        """What the command prints is part of its result."""
        first, second = self.checkouts({"say.py": "import os\nopen('out.txt', 'w').write('same')\nprint(os.getcwd())\n"})
        for root in (first, second, first, second):
            done = self.hallmark([PYTHON, "say.py"], "--output", "out.txt", cwd=root)
            self.assertEqual(f"{root}\n", done.out)

    def test_diagnostics_name_the_current_root(self):
        """A warning that spells an absolute path must show the current checkout's, replayed or not."""
        first, second = self.checkouts({"inc/k.h": "#warning look here\n#define VAL 1\n", "k.cpp": kits.KITS["gxx"].text("k.h")})
        for root in (first, second, first, second):
            done = self.hallmark(["g++", f"-I{root}/inc", "-c", "k.cpp", "-o", "k.o"], cwd=root)
            self.assertIn(f"{root}/inc/k.h", done.err)

    @with_kits("gxx")
    def test_depfile_is_regenerated(self, kit):
        """A depfile is text about the current tree: never another checkout's paths."""
        first, second = self.checkouts({"inc/k.h": "#define VAL 1\n", "k.cpp": kit.text("k.h")})
        for root in (first, second):
            self.hallmark(kit.compile("k.cpp", "k.o", f"-I{root}/inc", "-MD", "-MF", "k.d"), "--depfile", "own.d", cwd=root)
        for name in ("k.d", "own.d"):
            text = (second / name).read_text()
            self.assertNotIn(str(first), text, name)
            self.assertIn("inc/k.h", text, name)
        self.assertEqual(1, self.counts().executed)

    @needs("ninja", "cmake")
    @with_kits("gxx", "nvcc")
    def test_random_build_folder(self, kit):
        """What `pip install` does: each run configures in a new temporary folder. Nothing is compiled twice."""
        language = "CUDA" if kit.name == "nvcc" else "CXX"
        self.write_all({
            "inc/k.h": "#define VAL 1\n",
            f"k{kit.suffix}": kit.text("k.h"),
            "CMakeLists.txt": f"cmake_minimum_required(VERSION 3.20)\nproject(p {language})\n"
                              f"add_library(k OBJECT k{kit.suffix})\ntarget_include_directories(k PRIVATE inc)\n",
        })
        self.path(".hallmark").mkdir()
        compiler = [f"-DCMAKE_CUDA_COMPILER={kits.harness.find_tool('nvcc')}", "-DCMAKE_CUDA_ARCHITECTURES=80"] if language == "CUDA" else []
        for number, name in enumerate(("pip-k3j2x/build", "pip-zz91q/build")):
            folder = self.scratch / name
            self.run_plain(["cmake", "-G", "Ninja", "-S", self.tree, "-B", folder, *compiler,
                            f"-DCMAKE_{language}_COMPILER_LAUNCHER={self.program};run;--"])
            with self.expect(executed=1 if number == 0 else 0, replayed=number, why="same sources, other build folder"):
                self.ninja("-C", folder)
            (built,) = folder.rglob("k.*.o")
            self.assertEqual("1", kits.mark(built))
            shutil.rmtree(folder)

    @with_kits("nvcc")
    def test_long_options(self, kit):
        """The spellings of CMake's and Bazel's rules are as cacheable as the short ones."""
        self.write_all({"k.h": "#define VAL 1\n", "k.cu": kit.text("k.h")})
        for options in (
            "--generate-dependencies-with-compile --dependency-output k.d",
            "-MD -MF k.d --threads 2",
            "--compiler-options -fPIC",
            "--relocatable-device-code=true --std c++17",
        ):
            command = ["nvcc", "-arch=sm_80", *options.split(), "-c", "k.cu", "-o", "k.o"]
            with self.expect(executed=1, replayed=1, why=options):
                self.hallmark(command)
                self.path("k.o").unlink()
                self.hallmark(command)
            self.assertEqual("1", kits.mark(self.path("k.o")))


if __name__ == "__main__":
    main()
