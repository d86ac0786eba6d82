"""Every part of every scenario has its CTest entry, and every entry has a scenario. Arguments: the entries as FILE.PART."""

import subprocess
import sys
from pathlib import Path

NO_SCENARIOS = {"harness", "kernel_library", "kits", "mutation_list", "stamped_tree", "tidy"}

here = Path(__file__).parent
written = set()
for file in sorted(here.glob("*.py")):
    if file.stem not in NO_SCENARIOS:
        listed = subprocess.run([sys.executable, "-B", file, "--list"], capture_output=True, text=True, check=True)
        written |= {f"{file.stem}.{part}" for part in listed.stdout.split()}
entered = set(sys.argv[1:])
for name in sorted(written - entered):
    print(f"{name} has no entry in CMakeLists.txt")
for name in sorted(entered - written):
    print(f"{name} is in CMakeLists.txt, but there is no such scenario")
sys.exit(1 if written != entered else 0)
