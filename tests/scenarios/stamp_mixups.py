"""Stamps and attestations that do not belong to the artifact, or are damaged: STALE or UNKNOWN with the reason, never a crash, never
FRESH by doubt; and what a process or a test loads.
"""

import base64
import hashlib
import json
import random
import shutil
from pathlib import Path

from harness import PYTHON, main, needs
from stamped_tree import StampedTree, place_of


class StampMixups(StampedTree):
    @needs("g++")
    def test_other_code_under_the_old_stamp_is_stale(self):
        self.write_build()
        self.build()
        library, = self.install("libunit.so")
        data = bytearray(library.read_bytes())
        for name in (".text", ".rodata", ".eh_frame", ".data", ".rela.dyn"):
            place = place_of(library, name)
            swapped = bytearray(data)
            swapped[place] ^= 1
            library.write_bytes(swapped)
            told = self.told(library)
            self.assertEqual(("STALE", "stamp"), (told["verdict"], told["basis"]), name)
            self.assertIn(f"section {name} differs", told["doubt"])
        self.forget()
        self.assertEqual("STALE", self.judged(library)[0])

    @needs("g++", "strip")
    def test_without_an_attestation_or_with_another_ones(self):
        self.write_build()
        self.build()
        library, program = self.install("libunit.so", "prog")
        self.run_plain(["strip", library])
        self.forget()
        beside = Path(f"{library}.intoto.json")
        text = beside.read_bytes()
        beside.unlink()
        told = self.told(library)
        self.assertEqual("UNKNOWN", told["verdict"])
        self.assertIn("there is no attestation", told["doubt"])
        (self.box / "elsewhere.json").write_bytes(text)
        self.assertEqual("FRESH", self.judged(library, "--attestation", self.box / "elsewhere.json")[0])
        shutil.copy(f"{program}.intoto.json", beside)
        told = self.told(library)
        self.assertEqual("UNKNOWN", told["verdict"])
        self.assertIn("another run", told["doubt"])
        self.verb("verify", "--attestation", "x.json", library, program, code=2)

    @needs("g++")
    def test_hostile_bytes_get_an_answer(self):
        self.write_build()
        self.build()
        library, = self.install("libunit.so")
        beside = Path(f"{library}.intoto.json")
        self.forget()
        elf, text = library.read_bytes(), beside.read_bytes()
        random.seed(1)

        def refused(what):
            done = self.verb("verify", library, check=False)
            self.assertEqual(1, done.code, (what, done))
            self.assertRegex(done.out, r"^(UNKNOWN|STALE) ", what)

        for size in (0, 3, 63, 64, 1000, len(elf) // 2, len(elf) - 1):
            library.write_bytes(elf[:size])
            refused(f"an artifact of {size} bytes")
        note = place_of(library, ".note.hallmark")
        for at in (*range(note, note + 12), note + 24, note + 60, note + 100, note + 130):
            library.write_bytes(elf[:at] + bytes([elf[at] ^ 0x41]) + elf[at + 1:])
            refused(f"byte {at - note} of the note")
        library.write_bytes(elf)
        statement = json.loads(text)
        chain = statement["predicate"]["runDetails"]["byproducts"][0]
        for size in (0, 1, 100, len(text) // 2, len(text) - 2):
            beside.write_bytes(text[:size])
            refused(f"an attestation of {size} bytes")
        beside.write_bytes(b"[" * 3_000_000)
        refused("depth")
        for path, value in ((("_type",), 1), (("subject",), {}), (("subject",), []), (("predicate",), "x"),
                            (("predicate", "runDetails", "byproducts"), [1, [], {}]),
                            (("predicate", "buildDefinition", "buildType"), "another")):
            changed = json.loads(text)
            place = changed
            for name in path[:-1]:
                place = place[name]
            place[path[-1]] = value
            beside.write_text(json.dumps(changed))
            refused(path)
        packed = base64.b64decode(chain["content"])
        for _ in range(5):
            at = random.randrange(len(packed))
            damaged = packed[:at] + bytes([packed[at] ^ 0x55]) + packed[at + 1:]
            for honest in (False, True):  # `honest`: as if somebody made it so
                chain["content"] = base64.b64encode(damaged).decode()
                if honest:
                    chain["digest"]["sha256"] = hashlib.sha256(damaged).hexdigest()
                beside.write_text(json.dumps(statement))
                refused(f"byte {at} of the chain")
        beside.write_bytes(text)
        self.assertEqual("FRESH", self.judged(library)[0])

    @needs("g++", "strip")
    def test_what_the_store_lost_the_attestation_has(self):
        self.write_build()
        self.build()
        library, stripped = self.install("libunit.so", "prog")
        self.run_plain(["strip", stripped])
        shutil.rmtree(self.store / "derivations")
        (self.store / "derivations").mkdir()
        self.assertEqual(("FRESH", "attestation"), self.judged(library))
        self.assertEqual(("FRESH", "attestation"), self.judged(stripped))
        Path(f"{library}.intoto.json").unlink()
        told = self.told(library)
        self.assertEqual(("UNKNOWN", "record"), (told["verdict"], told["basis"]))
        self.assertIn("no longer in the store", told["chain"][0]["doubts"][0])

    @needs("g++", "strip")
    def test_what_a_process_runs(self):
        self.write_build()
        self.write("prog.cpp", "#include <unistd.h>\nint unit(int);\nint main() { write(1, \"on\", 2); pause(); return unit(1); }\n")
        self.build()
        library, = self.install("libunit.so")
        self.run_plain(["strip", library])
        self.forget()
        process = self.start([self.path("prog")], env={"LD_PRELOAD": library})
        self.assertEqual(b"on", process.stdout.read(2))
        told = json.loads(self.verb("verify", "--json", "--pid", str(process.pid), check=False).out)
        judged = {a["artifact"]: (a["verdict"], a["basis"]) for a in told["artifacts"]}
        self.assertEqual(("FRESH", "attestation"), judged[str(library)])
        self.assertGreater(told["not_judged"], 0, "the system's libraries")
        process.kill()

        swapped = bytearray(library.read_bytes())
        swapped[place_of(library, ".rodata")] ^= 1
        library.unlink()  # the process that was killed ran it
        library.write_bytes(swapped)
        self.write("t.py", "import ctypes, sys\nctypes.CDLL(sys.argv[1])\nprint('1 passed in 0.1s')\n")
        done = self.verb("test", "--", PYTHON, "t.py", library, check=False)
        self.assertEqual(1, done.code)
        self.assertIn("its code is not what was stamped", done.err)


if __name__ == "__main__":
    main()
