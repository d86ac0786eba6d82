"""`hallmark manifest`: what a hallmark.toml says, what is wrong with it, and who decided what a build would be made of.

Unknown keys and patterns that match nothing are passed over in silence by the pipelines that this replaces (QoLA manifests): here each is an
error with its place.
"""

import json
import tomllib
import unittest
from pathlib import Path

from harness import Scenario, main

SCHEMA = Path(__file__).resolve().parents[2] / "docs/formats/manifest.schema.json"
COMMIT = "0123456789abcdef0123456789abcdef01234567"

MANIFEST = f"""\
schema = 1

[project]
name = "attention"
version = "1.2"

[source.cutlass]
git = "../cutlass"
commit = "{COMMIT}"

[build]
archs = ["x86-64-v3", "sm_80", "sm_90"]

[option.rounding]
values = ["rne", "rtz"]
define = "ROUNDING"

[profile.quick]
archs = ["sm_80"]
options = {{ rounding = "rtz" }}
axes = {{ dtype = "f16" }}

[library.fmha]
namespace = "acme::fmha"
sources = ["src/*.cpp", "!src/old.cpp", "{{source.cutlass}}/tools/*.cpp"]

[library.fmha.axes]
dtype = ["f32", "f16", "bf16"]
causal = [false, true]

[[library.fmha.kernel]]
name = "fwd"
source = "kernels/fwd.cu"
axes = {{ dtype = ["f16", "bf16"] }}
skip = [{{ dtype = "bf16", causal = true }}]
per_arch = true

[[library.fmha.kernel]]
name = "ref"
template = "kernels/ref.cpp.in"
without = ["causal"]

[[library.fmha.kernel]]
name = "old"
source = "kernels/fwd.cu"
archs = ["sm_75"]
"""

FILES = {"hallmark.toml": MANIFEST, "src/a.cpp": "", "src/old.cpp": "", "kernels/fwd.cu": "", "kernels/ref.cpp.in": ""}


class Manifest(Scenario):
    def write_project(self, edit=lambda text: text):
        self.write_all({**FILES, "hallmark.toml": edit(MANIFEST)})

    def shown(self, *words, **kwargs):
        return json.loads(self.verb("manifest", "show", "--json", *words, **kwargs).out)

    def units(self, *words, **kwargs):
        return [line.split("\t") for line in self.verb("manifest", "expand", *words, **kwargs).out.splitlines()]

    def problems(self, *words):
        done = self.verb("manifest", "check", *words, code=2)
        self.assertEqual("", done.out)
        return [line.split("hallmark.toml:", 1)[1] for line in done.err.splitlines()]

    def test_check(self):
        self.write_project()
        done = self.verb("manifest", "check")
        self.assertEqual(("", ""), (done.out, done.err))
        self.assertEqual([], json.loads(self.verb("manifest", "check", "--json").out)["problems"])

        self.write_project(lambda text: text.replace("per_arch", "perarch").replace("src/*.cpp", "scr/*.cpp")
                           .replace('archs = ["sm_80"]', 'archs = ["sm80"]'))
        self.assertEqual(['19:10: [profile.quick]: "sm80" is no known arch; did you mean "sm_80"?',
                          '36:1: [[library.fmha.kernel]]: unknown key "perarch"; did you mean "per_arch"?'], self.problems())
        problem = json.loads(self.verb("manifest", "check", "--json", code=2).out)["problems"][1]
        self.assertEqual((36, 1, 'did you mean "per_arch"?'), (problem["line"], problem["column"], problem["hint"]))

        # What only the folders tell comes when the text is right.
        self.write_project(lambda text: text.replace("src/*.cpp", "scr/*.cpp"))
        self.assertEqual(['25:12: "scr/*.cpp" matches no file; looked in ' + str(self.path("scr")),
                          '25:25: "!src/old.cpp" takes nothing away'], self.problems())
        self.write_project(lambda text: text.replace(', "{source.cutlass}/tools/*.cpp"', "").replace("src/*.cpp", "scr/*.cpp")
                           .replace(f'[source.cutlass]\ngit = "../cutlass"\ncommit = "{COMMIT}"\n', ""))
        self.assertIn(':22:12: "scr/*.cpp" matches no file', self.verb("build", code=2).err)
        self.assertFalse(self.path("build").exists())

    def test_check_looks_at_every_profile(self):
        self.write_project(lambda text: text.replace("[library.fmha]", "[profile.empty]\nlibraries = []\n\n[library.fmha]", 1))
        self.verb("manifest", "check")
        self.write_project(lambda text: text.replace('source = "kernels/fwd.cu"\narchs = ["sm_75"]', 'source = "none.cu"'))
        self.assertIn("none.cu", self.problems()[0])
        self.verb("manifest", "check", "--profile", "none", code=2)

    def test_where_it_is_found(self):
        self.write_project()
        self.write("sub/deep/x", "")
        for words, cwd in (((), "sub/deep"), (("..",), "sub"), ((str(self.path("hallmark.toml")),), "sub"), ((".",), ".")):
            told = self.shown(*words, cwd=self.path(cwd))
            self.assertEqual(str(self.path("hallmark.toml").resolve()), told["manifest"])
        self.assertIn("no such file", self.verb("manifest", "show", "none", code=3).err)
        self.assertIn("a second manifest", self.verb("manifest", "show", ".", ".", code=2).err)
        self.assertIn("is not there", self.verb("manifest", "show", "sub", code=3).err)

    def test_who_decided(self):
        self.write_project()

        def archs(*words, **kwargs):
            told = self.shown(*words, **kwargs)
            return [arch["name"] for arch in told["archs"]], told["archs_origin"]

        everywhere = {"HALLMARK_ARCHS": "sm_70"}
        self.assertEqual((["x86-64-v3", "sm_80", "sm_90"], "manifest"), archs(env=everywhere))
        self.assertEqual((["sm_80"], "profile"), archs("--profile", "quick", env=everywhere))
        self.assertEqual((["sm_100a", "gfx90a"], "command line"),
                         archs("--profile", "quick", "--arch", "sm_100a", "--arch=gfx90a", env=everywhere))
        told = self.shown("--profile", "quick")
        self.assertEqual([{"name": "rounding", "value": "rtz", "origin": "profile"}], told["options"])
        self.assertEqual(str(self.path("build/hallmark-quick")), told["folder"])
        told = self.shown("--option", "rounding=rtz", "--build-dir", "out")
        self.assertEqual("command line", told["options"][0]["origin"])
        self.assertEqual(str(self.path("out")), told["folder"])
        self.assertEqual("built-in", self.shown()["options"][0]["origin"])
        self.assertIn('option rounding cannot be "rtn"', self.verb("manifest", "show", "--option", "rounding=rtn", code=2).err)
        self.assertIn("--option", self.verb("manifest", "show", "--option", "rounding", code=2).err)
        self.assertIn('did you mean "sm_90"?', self.verb("manifest", "show", "--arch", "sm90", code=2).err)

        self.write_project(lambda text: text.replace('archs = ["x86-64-v3", "sm_80", "sm_90"]', ""))
        self.assertEqual((["sm_70"], "environment"), archs(env=everywhere))
        told = self.shown()
        self.assertEqual("machine", told["archs_origin"])
        self.assertEqual("native", told["archs"][0]["name"])

    def test_native_asks_the_driver(self):
        self.write_project()
        tools = self.path("tools")
        self.script("tools/nvidia-smi", "#!/bin/sh\necho asked >> '" + str(self.path("asked")) + "'\nprintf '9.0\\n9.0\\n12.0\\n'\n")
        self.script("tools/rocm_agent_enumerator", "#!/bin/sh\nprintf 'gfx000\\ngfx90a\\n'\n")
        environment = {"PATH": f"{tools}:{self.environment['PATH']}"}
        told = self.shown(env=environment)
        self.assertFalse(self.path("asked").exists(), "nobody said native")
        told = self.shown("--arch", "native", env=environment)
        self.assertEqual([("native", "cpu"), ("sm_90", "cuda"), ("sm_120", "cuda")],
                         [(arch["name"], arch["toolchain"]) for arch in told["archs"]], "no kernel here is of hip")
        self.script("tools/nvidia-smi", "#!/bin/sh\necho 'No devices were found'\nexit 6\n")
        told = self.shown("--arch", "native", env=environment)
        self.assertEqual({"fwd", "old"}, {one["kernel"] for one in told["not_built"]})
        self.assertIn("no cuda device", told["not_built"][0]["why"])

    def test_show(self):
        self.write_project()
        told = self.shown()
        self.assertEqual({"name": "cutlass", "kind": "git", "location": "../cutlass", "pin": COMMIT,
                          "folder": str(self.path(".hallmark/sources/cutlass")), "checked_out": False}, told["sources"][0])
        library = told["libraries"][0]
        self.assertEqual(("acme::fmha", 2, 9, 1),
                         (library["namespace"], library["kernels"], library["variants"], library["sources"]))
        self.assertEqual([("old", "none of its archs is among those asked for")],
                         [(one["kernel"], one["why"]) for one in told["not_built"]])
        text = self.verb("manifest", "show").out
        for line in ("project      attention 1.2", "archs        x86-64-v3 sm_80 sm_90 (manifest)", "option       rounding = rne (built-in)",
                     f"source       cutlass: git ../cutlass at {COMMIT}; not checked out",
                     "not built    fmha: old (cuda): none of its archs is among those asked for"):
            self.assertIn(line + "\n", text)
        self.assertFalse(self.path("build").exists(), "nothing is built")

    def test_expand(self):
        self.write_project()
        self.assertEqual([
            ["fmha", "src/a.cpp", "cpu", "x86-64-v3", "src/a.cpp"],
            *(["fmha", f"fwd_{values}_{arch}", "cuda", arch, "kernels/fwd.cu"]
              for values in ("f16_false", "f16_true", "bf16_false") for arch in ("sm_80", "sm_90")),
            *(["fmha", f"ref_{dtype}", "cpu", "x86-64-v3", "kernels/ref.cpp.in"] for dtype in ("f32", "f16", "bf16")),
        ], self.units())
        self.assertEqual([["fmha", "ref_f16", "cpu", "-", "kernels/ref.cpp.in"]], self.units("--profile", "quick", "--kernel", "ref"))
        told = json.loads(self.verb("manifest", "expand", "--json", "--kernel", "fwd", "--arch", "sm_90").out)
        self.assertEqual({"dtype": "f16", "causal": False}, told["units"][0]["axes"])
        done = self.verb("manifest", "expand", "--kernel", "old")
        self.assertIn("nothing of kernel old is built: none of its archs", done.err)
        self.assertIn("has no kernel `fwdd`", self.verb("manifest", "expand", "--kernel", "fwdd", code=2).err)
        self.assertIn('no library "fhma"; did you mean "fmha"?', self.verb("manifest", "expand", "--library", "fhma", code=2).err)

    def test_the_schema_says_the_same(self):
        """What the schema for editors accepts and refuses, the program accepts and refuses."""
        try:
            import jsonschema
        except ImportError:
            raise unittest.SkipTest("jsonschema is not installed")
        judge = jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text()))
        edits = {
            None: None,
            "per_arch = true": "per_arch = 1",
            'name = "ref"': 'nam = "ref"',
            "[library.fmha.axes]": "[library.fmha.axis]",
            COMMIT: COMMIT[:-1],
            '"sm_90"]': '"sm90"]',
            'define = "ROUNDING"': 'define = "9"',
            'namespace = "acme::fmha"': 'namespace = "acme:fmha"',
            "[project]": "[projekt]",
            'template = "kernels/ref.cpp.in"': 'template = "a"\nsource = "b"',
            "causal = [false, true]": "causal = []",
        }
        for old, new in edits.items():
            text = MANIFEST if old is None else MANIFEST.replace(old, new, 1)
            with self.subTest(new=new):
                self.write_project(lambda _, text=text: text)
                self.assertEqual(old is None, judge.is_valid(tomllib.loads(text)))
                self.verb("manifest", "check", code=0 if old is None else 2)


if __name__ == "__main__":
    main()
