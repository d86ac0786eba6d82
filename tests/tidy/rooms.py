#!/usr/bin/env python3
"""The house rules between rooms (DESIGN section 4): who may include whom.

Checks three things against TABLE:
  - src/CMakeLists.txt declares no dependency that the table does not allow;
  - every #include "room/..." names a room below, directly or through a declared one, or the room itself;
  - nobody includes another room's internal/ headers (a room's unit tests may include their own room's).
"""
import pathlib
import re
import sys

# Room -> rooms that it may use directly. What those use may be included as well: arrows point down only.
TABLE = {
    "base": [],
    "os": ["base"],
    "digest": ["base"],
    "model": ["base", "digest"],
    "observe": ["os", "model"],
    "inspect": ["os", "model"],
    "store": ["os", "model"],
    "engine": ["store", "observe", "host", "model", "inspect"],  # inspect: docs/adr/0005
    "host": ["os", "model"],
    "prove": ["engine", "store", "inspect", "model"],  # engine: docs/adr/0008
    "source": ["os", "model"],
    "manifest": ["os", "model"],  # os: patterns are resolved by reading folders
    "kernels": ["manifest", "source", "engine", "inspect"],
    "app": ["engine", "prove", "kernels"],
    "cli": ["app"],
}
SOURCE_SUFFIXES = {".h", ".c", ".cpp"}
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"')
ROOM = re.compile(r"hallmark_room\(\s*(\w+)([^)]*)\)")


def closure(room, declared):
    """All rooms that `room` may include."""
    seen = set()
    waiting = [room]
    while waiting:
        name = waiting.pop()
        if name not in seen:
            seen.add(name)
            waiting.extend(declared.get(name, []))
    return seen


def declared_rooms(cmake_text):
    """Room -> DEPENDS of its hallmark_room() call."""
    rooms = {}
    for name, words in ROOM.findall(re.sub(r"#.*", "", cmake_text)):
        found = re.search(r"DEPENDS((?:\s+(?!LINK\b|\$)\w+)*)", words)
        rooms[name] = found.group(1).split() if found else []
    return rooms


def check_declarations(declared):
    for room, uses in declared.items():
        if room not in TABLE:
            yield f"src/CMakeLists.txt: room {room} is not in the table (tests/tidy/rooms.py)"
            continue
        for used in uses:
            if used not in TABLE[room]:
                yield f"src/CMakeLists.txt: {room} must not depend on {used}; allowed: {' '.join(TABLE[room]) or 'nothing'}"


def room_of(path, top):
    """The room that a source file belongs to, or None for tests of the whole."""
    parts = path.relative_to(top).parts
    if parts[0] == "src":
        return parts[1]
    if parts[:2] == ("tests", "unit"):
        return parts[2]
    return None


def check_includes(top, declared):
    for folder in ("src", "tests"):
        for path in sorted((top / folder).rglob("*")):
            if path.suffix not in SOURCE_SUFFIXES or not path.is_file():
                continue
            room = room_of(path, top)
            may = closure(room, declared) if room else None
            for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
                found = INCLUDE.match(line)
                if not found or "/" not in found.group(1):
                    continue
                used = found.group(1).split("/")[0]
                where = f"{path.relative_to(top)}:{number}"
                if used not in declared:
                    continue  # tests' own headers
                if may is not None and used not in may:
                    yield f"{where}: room {room} must not include {found.group(1)}"
                if "/internal/" in found.group(1) and used != room and folder == "src":
                    yield f"{where}: {found.group(1)} is private to room {used}"


def check(top):
    declared = declared_rooms((top / "src/CMakeLists.txt").read_text())
    yield from check_declarations(declared)
    for folder in sorted(p.name for p in (top / "src").iterdir() if p.is_dir()):
        if folder not in declared:
            yield f"src/{folder}: no hallmark_room() declares it"
    yield from check_includes(top, declared)


def main():
    problems = list(check(pathlib.Path(sys.argv[1]).resolve()))
    print("\n".join(problems) or "every include is allowed")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
