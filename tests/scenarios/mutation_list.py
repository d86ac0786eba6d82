"""The mutations of the mutation suite: what is done to a tree, and whether the result may change."""

from __future__ import annotations

import os
import shutil
import time
from dataclasses import dataclass, field
from typing import Callable

import harness
import kits


@dataclass
class Change:
    """What a mutation may set besides changing the tree."""

    arguments: list[str] = field(default_factory=list)
    environment: dict[str, str | None] = field(default_factory=dict)
    replaced: dict[str, str] = field(default_factory=dict)  # words of the command


MUTATIONS: dict[str, tuple[bool, Callable]] = {}


def mutation(*, matters: bool):
    """`matters`: whether the result may change. One that cannot matter must cost no execution."""

    def decorate(function):
        MUTATIONS[function.__name__] = (matters, function)
        return function

    return decorate


# ---- contents --------------------------------------------------------------------------------------------------------


@mutation(matters=True)
def edit_source(s, kit, change):
    text = s.read(kit.source)
    s.write(kit.source, text.replace('"A"', '"SYS"', 1) if kit.name == "python" else text.replace("TEXT(A)", "TEXT(A) TEXT(A)"))


@mutation(matters=True)
def edit_header(s, kit, change):
    s.write("inc2/a.h", "#define A 2\n")


@mutation(matters=True)
def edit_header_with_warning(s, kit, change):
    """The result is the same, stderr is not."""
    s.write("inc2/a.h", "#define A 3\n#warning a warning\n")


@mutation(matters=True)
def edit_nested_header(s, kit, change):
    s.write("inc2/peer.h", "#define PEER 2\n")


@mutation(matters=True)
def edit_system_header(s, kit, change):
    s.write("ven/sys.h", "#define SYS 2\n")


@mutation(matters=True)
def response_file(s, kit, change):
    s.write("flags.rsp", "-DRSP=2\n")


@mutation(matters=True)
def response_file_adds_a_folder(s, kit, change):
    s.write("more/opt.h", "#define OPT 8\n")
    s.write("flags.rsp", "-DRSP=1 -Imore\n")


@mutation(matters=True)
def older_mtime(s, kit, change):
    s.write("inc2/a.h", "#define A 4\n", mtime=1_500_000_000)


@mutation(matters=True)
def future_mtime(s, kit, change):
    s.write("inc2/a.h", "#define A 4\n", mtime=4_000_000_000)


@mutation(matters=True)
def same_size_and_mtime(s, kit, change):
    before = s.path("inc2/a.h").stat()
    s.write("inc2/a.h", "#define A 5\n")
    os.utime(s.path("inc2/a.h"), ns=(before.st_atime_ns, before.st_mtime_ns))


@mutation(matters=True)
def renamed_over_with_same_size_and_mtime(s, kit, change):
    before = s.path("inc2/a.h").stat()
    s.write("inc2/a.new", "#define A 6\n")
    os.utime(s.path("inc2/a.new"), ns=(before.st_atime_ns, before.st_mtime_ns))
    os.replace(s.path("inc2/a.new"), s.path("inc2/a.h"))


@mutation(matters=True)
def swapped_headers(s, kit, change):
    s.write("inc2/a.h", "#define A PEER\n#define B 1\n")
    s.write("inc2/peer.h", "#define PEER 7\n")


@mutation(matters=True)
def emptied_header(s, kit, change):
    """The command fails, and fails in the same way."""
    s.write("inc2/peer.h", "#error gone\n" if kit.name != "python" else "")


@mutation(matters=True)
def missing_header(s, kit, change):
    s.path("inc2/peer.h").unlink()


# ---- the search path -------------------------------------------------------------------------------------------------


@mutation(matters=True)
def shadowing_header(s, kit, change):
    s.write("inc1/a.h", "#define A 11\n")


@mutation(matters=True)
def shadowing_header_in_the_source_folder(s, kit, change):
    s.write("src/a.h", "#define A 12\n")


@mutation(matters=True)
def shadowing_folder(s, kit, change):
    s.write("inc1/sub/deep.h", "#define DEEP 13\n")


@mutation(matters=True)
def shadowing_system_header(s, kit, change):
    s.write("inc2/sys.h", "#define SYS 14\n")


@mutation(matters=True)
def optional_appears(s, kit, change):
    s.write("inc2/opt.h", "#define OPT 15\n")


@mutation(matters=True)
def optional_appears_in_the_last_folder(s, kit, change):
    s.write("ven/opt.h", "#define OPT 16\n")


@mutation(matters=True)
def header_moves_to_a_later_folder(s, kit, change):
    os.rename(s.path("inc2/a.h"), s.path("ven/a.h"))
    s.write("ven/a.h", "#define A 17\n")


@mutation(matters=True)
def search_path_variable(s, kit, change):
    s.write("extra/opt.h", "#define OPT 18\n")
    change.environment["CPATH"] = "extra"


@mutation(matters=True)
def search_path_variable_with_a_future_folder(s, kit, change):
    """The folder that CPATH names does not exist; then it does."""
    change.environment["CPATH"] = "future"
    s.build(kit, change)
    s.write("future/opt.h", "#define OPT 19\n")


@mutation(matters=True)
def search_order(s, kit, change):
    s.write("inc1/a.h", "#define A 20\n")
    s.build(kit, change)
    change.replaced.update({"-Iinc1": "-Iinc2", "-Iinc2": "-Iinc1"})


@mutation(matters=True)
def folder_in_the_place_of_a_header(s, kit, change):
    """A compiler skips a folder of that name; so does the generator."""
    s.path("inc1/a.h").mkdir()


@mutation(matters=True)
def search_folder_replaced(s, kit, change):
    os.rename(s.path("inc2"), s.path("inc2.old"))
    shutil.copytree(s.path("inc2.old"), s.path("inc2"))
    s.write("inc2/a.h", "#define A 21\n")


@mutation(matters=True)
def search_folder_vanishes(s, kit, change):
    shutil.rmtree(s.path("inc1"))
    s.build(kit, change)
    s.write("inc1/a.h", "#define A 22\n")


# ---- links -----------------------------------------------------------------------------------------------------------


@mutation(matters=True)
def header_becomes_a_link(s, kit, change):
    s.write("elsewhere.h", "#define A 31\n")
    s.path("inc2/a.h").unlink()
    os.symlink("../elsewhere.h", s.path("inc2/a.h"))


@mutation(matters=True)
def link_retargeted(s, kit, change):
    header_becomes_a_link(s, kit, change)
    s.build(kit, change)
    s.write("elsewhere2.h", "#define A 32\n")
    s.path("inc2/a.h").unlink()
    os.symlink("../elsewhere2.h", s.path("inc2/a.h"))


@mutation(matters=True)
def target_of_a_link_edited(s, kit, change):
    header_becomes_a_link(s, kit, change)
    s.build(kit, change)
    s.write("elsewhere.h", "#define A 33\n")


@mutation(matters=True)
def folder_link_retargeted(s, kit, change):
    shutil.copytree(s.path("inc2"), s.path("v1"))
    shutil.copytree(s.path("inc2"), s.path("v2"))
    s.write("v2/a.h", "#define A 34\n")
    shutil.rmtree(s.path("inc2"))
    os.symlink("v1", s.path("inc2"))
    s.build(kit, change)
    s.path("inc2").unlink()
    os.symlink("v2", s.path("inc2"))


@mutation(matters=True)
def dangling_link_becomes_whole(s, kit, change):
    os.symlink("../later.h", s.path("inc1/a.h"))
    s.build(kit, change)
    s.write("later.h", "#define A 35\n")


@mutation(matters=True)
def link_above_a_dotdot(s, kit, change):
    """sub/deep.h includes ../peer.h: with sub as a link, `..` is another folder."""
    shutil.copytree(s.path("inc2/sub"), s.path("far/sub"))
    s.write("far/peer.h", "#define PEER 36\n")
    shutil.rmtree(s.path("inc2/sub"))
    os.symlink("../far/sub", s.path("inc2/sub"))


@mutation(matters=True)
def hard_link_edited_through_its_other_name(s, kit, change):
    os.link(s.path("inc2/a.h"), s.path("alias.h"))
    s.build(kit, change)
    s.write("alias.h", "#define A 37\n")


# ---- command, environment, tools -------------------------------------------------------------------------------------


@mutation(matters=True)
def macro_argument(s, kit, change):
    change.arguments.append("-DEXTRA=41")


@mutation(matters=True)
def unknown_variable(s, kit, change):
    change.environment["SOMETHING_OF_MINE"] = "42"


@mutation(matters=True)
def wrapper_first_on_path(s, kit, change):
    """Another tool of the same name. For the generator, the interpreter is named by its path; a module is shadowed instead."""
    if kit.name == "python":
        s.write("site/re.py", "from importlib import util\nraise SystemExit('wrong re')\n")
        change.environment["PYTHONPATH"] = "site"
        return
    real = harness.find_tool(kit.tool)
    s.script(f"bin/{kit.tool}", f'#!/bin/sh\nexec {real} -DEXTRA=43 "$@"\n')
    change.environment["PATH"] = f"{s.path('bin')}:{s.environment['PATH']}"


@mutation(matters=True)
def imported_module(s, kit, change):
    if kit.name == "python":
        s.write("src/lib/style.py", kits.STYLE.replace("MARK:", "MARK:x"))
    else:
        s.write(kit.source, s.read(kit.source) + '#include "../unread.h"\nextern const char more[];\nconst char more[] = TEXT(UNREAD);\n')


@mutation(matters=True)
def relative_path_through_a_moved_folder(s, kit, change):
    """The tree is moved away and an edited one takes its place."""
    os.rename(s.tree, s.box / "moved")
    shutil.copytree(s.box / "moved", s.tree)
    s.write("inc2/a.h", "#define A 45\n")
    shutil.rmtree(s.box / "moved")


# ---- outputs ---------------------------------------------------------------------------------------------------------


@mutation(matters=True)
def output_garbled(s, kit, change):
    s.write(kit.output, b"garbage")


@mutation(matters=True)
def output_truncated(s, kit, change):
    with open(s.path(kit.output), "r+b") as file:
        file.truncate(10)


@mutation(matters=True)
def output_is_a_link(s, kit, change):
    """A compiler writes through the link or replaces it; the bytes under the output's name must be right either way."""
    s.path(kit.output).unlink()
    s.write("target.bin", "")
    os.symlink("target.bin", s.path(kit.output))


# ---- what cannot matter ----------------------------------------------------------------------------------------------


@mutation(matters=False)
def nothing(s, kit, change):
    pass


@mutation(matters=False)
def output_removed(s, kit, change):
    s.path(kit.output).unlink()


@mutation(matters=False)
def touch_header(s, kit, change):
    s.touch("inc2/a.h")


@mutation(matters=False)
def touch_source(s, kit, change):
    s.touch(kit.source)


@mutation(matters=False)
def all_mtimes_old(s, kit, change):
    for folder, _, files in os.walk(s.tree):
        for name in files:
            os.utime(os.path.join(folder, name), (1_400_000_000, 1_400_000_000))


@mutation(matters=False)
def same_bytes_rewritten(s, kit, change):
    s.write("inc2/a.h", s.read("inc2/a.h"))


@mutation(matters=False)
def same_bytes_new_inode(s, kit, change):
    shutil.copyfile(s.path("inc2/a.h"), s.path("inc2/a.tmp"))
    os.replace(s.path("inc2/a.tmp"), s.path("inc2/a.h"))


@mutation(matters=False)
def edited_and_reverted(s, kit, change):
    s.write("inc2/a.h", "#define A 99\n")
    s.write("inc2/a.h", "#define A 1\n")


@mutation(matters=False)
def appeared_and_vanished(s, kit, change):
    s.write("inc1/a.h", "#define A 99\n")
    s.path("inc1/a.h").unlink()


@mutation(matters=False)
def reordered_arrival(s, kit, change):
    """The same names arrive in another order, so that folders list them otherwise."""
    for folder in ("inc2", "inc1", "ven"):
        kept = {p.name: p.read_bytes() for p in s.path(folder).iterdir() if p.is_file()}
        for name in kept:
            s.path(f"{folder}/{name}").unlink()
        for name in sorted(kept, reverse=True):
            s.path(f"{folder}/{name}").write_bytes(kept[name])


@mutation(matters=False)
def unrelated_in_search_folder(s, kit, change):
    for folder in kit.searched:
        s.write(f"{folder}/unrelated.h", "")


@mutation(matters=False)
def unrelated_folder(s, kit, change):
    s.write("inc1/subfolder/x.h", "")


@mutation(matters=False)
def unread_file_edited(s, kit, change):
    s.write("unread.h", "// a comment\n")
    s.write("inc1/other.h", "#define OTHER 2\n")


@mutation(matters=False)
def unread_file_removed(s, kit, change):
    s.path("inc1/other.h").unlink()


@mutation(matters=False)
def hard_link_count(s, kit, change):
    os.link(s.path("inc2/a.h"), s.path("inc2/copy.h"))


@mutation(matters=False)
def group_may_write(s, kit, change):
    s.path("inc2/a.h").chmod(0o664)


@mutation(matters=False)
def ignored_variables(s, kit, change):
    change.environment.update({"TERM": "dumb", "SHLVL": "9", "NINJA_STATUS": "%", "SSH_TTY": "/dev/pts/9", "MAKELEVEL": "2"})


@mutation(matters=False)
def other_tmpdir(s, kit, change):
    place = s.box / "tmp two"
    place.mkdir(exist_ok=True)
    change.environment["TMPDIR"] = str(place)


@mutation(matters=False)
def other_home(s, kit, change):
    place = s.box / "home2"
    place.mkdir(exist_ok=True)
    change.environment["HOME"] = str(place)


@mutation(matters=False)
def longer_path(s, kit, change):
    s.path("nothing").mkdir()
    change.environment["PATH"] = f"{s.path('nothing')}:{s.environment['PATH']}:/nowhere"


@mutation(matters=False)
def fresh_checkout(s, kit, change):
    os.rename(s.tree, s.box / "away")
    shutil.copytree(s.box / "away", s.tree, symlinks=True, copy_function=shutil.copyfile)
    shutil.rmtree(s.box / "away")


@mutation(matters=False)
def a_later_second(s, kit, change):
    time.sleep(1.05)
