#!/usr/bin/env python3
"""Rules about the files of the tree, each with the habit of DESIGN section 10 that it guards.

Looks at what git tracks (or, outside a repository, at everything that no .gitignore line of ours names).
"""
import pathlib
import re
import subprocess
import sys

MAX_LINES = 500
CODE = {".h", ".c", ".cpp", ".py", ".sh", ".cmake"}
# A person's or machine's own folders never belong into the project. Tests may invent homes.
MACHINE_PATH = re.compile(r"(?<![\w$}.])/(?:work|root|farm)/[\w.]")
HOME_PATH = re.compile(r"(?<![\w$}.])/(?:home|Users)/\w+/[\w.]")
# Registries are named by their package names, never by their hosts.
REGISTRY_HOST = re.compile(r"\b(?:pypi\.org|pythonhosted\.org|deb\.debian\.org|registry\.npmjs\.org|security\.debian\.org)\b")
UNFINISHED = re.compile(r"\b(?:TODO|FIXME|XXX)\b")
DOCS_MAX_LINES = {"docs/architecture.md": 110}  # under two pages
# Whatever an experiment leaves lands in the top folder, and once was committed from there.
TOP_FILES = {".clang-format", ".clang-tidy", ".gitignore", "CMakeLists.txt", "CMakePresets.json", "LICENSE", "README.md", "dev"}
LICENCE_START = "Apache License"


def tracked(top):
    try:
        listed = subprocess.run(["git", "-C", str(top), "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                                capture_output=True, check=True).stdout.decode().split("\0")
        names = [name for name in listed if name]
    except (OSError, subprocess.CalledProcessError):
        names = [str(p.relative_to(top)) for p in top.rglob("*") if p.is_file()]
        names = [n for n in names if not n.startswith(("build/", ".git/", ".hallmark/"))]
    return [name for name in names if (top / name).is_file()]


def is_code(name):
    return pathlib.PurePath(name).suffix in CODE or name in ("dev", ".ci/run")


def read(top, name):
    data = (top / name).read_bytes()
    return None if b"\0" in data else data.decode(errors="replace")


def check_file(name, text):
    lines = text.splitlines()
    if is_code(name) and len(lines) > MAX_LINES:
        yield f"{name}: {len(lines)} lines; more than {MAX_LINES} want a split along a real seam"
    if name.startswith("src/") and name.endswith(".h"):
        if not lines or not lines[0].startswith("//"):
            yield f"{name}:1: a header begins with its contract, as a comment"
        if "#pragma once" not in lines[:40]:
            yield f"{name}: no #pragma once"
    if name in DOCS_MAX_LINES and len(lines) > DOCS_MAX_LINES[name]:
        yield f"{name}: {len(lines)} lines; at most {DOCS_MAX_LINES[name]}"
    guards = name.startswith("tests/tidy/")
    for number, line in enumerate(lines, 1):
        if (MACHINE_PATH.search(line) or (HOME_PATH.search(line) and not name.startswith("tests/"))) and not guards:
            yield f"{name}:{number}: a path of one machine or person: {line.strip()[:80]}"
        if REGISTRY_HOST.search(line) and not guards:
            yield f"{name}:{number}: names the host of a package registry"
        if is_code(name) and UNFINISHED.search(line) and not guards:
            yield f"{name}:{number}: unfinished: {line.strip()[:80]}"
        if is_code(name) and "\t" in line:
            yield f"{name}:{number}: a tab"
        if line.rstrip() != line and is_code(name):
            yield f"{name}:{number}: blanks at the end of the line"
    # The bytes of a corpus are what they are: a line break at the end would make another case of them.
    if text and not text.endswith("\n") and not name.startswith("tests/fuzz/corpus/"):
        yield f"{name}: no newline at the end"


def check_documents(top, names):
    """Links of Markdown pages lead to files, and each named format has its page."""
    for name in names:
        if not name.endswith(".md"):
            continue
        text = read(top, name) or ""
        for number, line in enumerate(text.splitlines(), 1):
            for target in re.findall(r"\]\(([^)#\s]+)", line):
                if "://" in target or target.startswith("mailto:"):
                    continue
                if not (top / name).parent.joinpath(target).exists():
                    yield f"{name}:{number}: leads to {target}, which does not exist"
    for name in names:
        if not name.startswith("src/"):
            continue
        for number, line in enumerate((read(top, name) or "").splitlines(), 1):
            for target in re.findall(r"\bdocs/[\w./-]+\.md\b", line):
                if not (top / target).exists():
                    yield f"{name}:{number}: names {target}, which does not exist"


def check(top):
    names = tracked(top)
    if not (read(top, "LICENSE") if (top / "LICENSE").exists() else "").lstrip().startswith(LICENCE_START):
        yield "LICENSE: the Apache License 2.0 is not there"
    for name in names:
        if "/" not in name and name not in TOP_FILES:
            yield f"{name}: does not belong into the top folder (or into TOP_FILES of tests/tidy/tree.py)"
        if name == "LICENSE" or name.startswith("tests/golden/"):
            continue
        text = read(top, name)
        if text is not None:
            yield from check_file(name, text)
    yield from check_documents(top, names)


def main():
    problems = list(check(pathlib.Path(sys.argv[1]).resolve()))
    print("\n".join(problems) or "the tree is tidy")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
