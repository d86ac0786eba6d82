#!/usr/bin/env python3
"""Our C and C++ files are as clang-format leaves them (`./dev format` does it)."""
import pathlib
import shutil
import subprocess
import sys

import tree


def main():
    top = pathlib.Path(sys.argv[1]).resolve()
    if shutil.which("clang-format") is None:
        print("SKIPPED: clang-format is not installed")
        return 77
    names = [name for name in tree.tracked(top) if name.endswith((".h", ".cpp", ".c")) and name.startswith(("src/", "tests/"))]
    return subprocess.run(["clang-format", "--dry-run", "-Werror", *names], cwd=top, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
