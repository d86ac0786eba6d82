#!/usr/bin/env python3
"""The tidy tests can fail: each rule is broken once in a small tree and must be reported."""
import pathlib
import tempfile
import unittest

import rooms
import tree


class Tree:
    """A small house that obeys all rules, to break one at a time."""

    def __init__(self, folder):
        self.top = pathlib.Path(folder)
        self.write("LICENSE", "\n   Apache License\n")
        self.write("src/CMakeLists.txt", "hallmark_room(base)\nhallmark_room(os DEPENDS base)\n"
                                         "hallmark_room(digest DEPENDS base LINK ${X})\n"
                                         "hallmark_room(model DEPENDS base digest)\n")
        self.write("src/base/a.h", "// Contract.\n#pragma once\n")
        self.write("src/digest/d.h", "// Contract.\n#pragma once\n#include \"base/a.h\"\n")
        self.write("src/os/internal/o.h", "// Contract.\n#pragma once\n")
        self.write("src/model/m.cpp", "#include \"base/a.h\"\n#include \"digest/d.h\"\n")

    def write(self, name, text):
        path = self.top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


class TidyCanFail(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.tree = Tree(self.folder.name)

    def expect(self, check, part):
        problems = list(check(self.tree.top))
        self.assertTrue(any(part in problem for problem in problems), f"{part!r} is not in {problems}")

    def test_a_good_tree_passes(self):
        self.assertEqual([], list(rooms.check(self.tree.top)))
        self.assertEqual([], list(tree.check(self.tree.top)))

    def test_include_of_a_room_above(self):
        self.tree.write("src/base/a.cpp", '#include "os/o.h"\n')
        self.expect(rooms.check, "room base must not include os/o.h")

    def test_include_beside(self):
        self.tree.write("src/digest/d.cpp", '#include "model/m.h"\n')
        self.expect(rooms.check, "room digest must not include model/m.h")

    def test_internal_of_another_room(self):
        self.tree.write("src/CMakeLists.txt", "hallmark_room(base)\nhallmark_room(os DEPENDS base)\n"
                                              "hallmark_room(digest DEPENDS base)\nhallmark_room(model DEPENDS base digest)\n"
                                              "hallmark_room(observe DEPENDS os model)\n")
        self.tree.write("src/observe/x.cpp", '#include "os/internal/o.h"\n')
        self.expect(rooms.check, "is private to room os")

    def test_dependency_that_the_table_forbids(self):
        self.tree.write("src/CMakeLists.txt", "hallmark_room(base DEPENDS os)\nhallmark_room(os)\n")
        self.expect(rooms.check, "base must not depend on os")

    def test_room_without_declaration(self):
        self.tree.write("src/attic/x.cpp", "\n")
        self.expect(rooms.check, "src/attic: no hallmark_room()")

    def test_long_file(self):
        self.tree.write("src/base/long.cpp", "\n" * 501)
        self.expect(tree.check, "501 lines")

    def test_header_without_contract(self):
        self.tree.write("src/base/b.h", "#pragma once\n")
        self.expect(tree.check, "begins with its contract")

    def test_machine_path(self):
        self.tree.write("docs/x.md", "see /home/" + "anna/project\n")
        self.expect(tree.check, "a path of one machine")

    def test_dead_link(self):
        self.tree.write("docs/x.md", "[gone](gone.md)\n")
        self.expect(tree.check, "which does not exist")

    def test_document_that_code_names(self):
        self.tree.write("src/base/b.h", "// See docs/gone.md.\n#pragma once\n")
        self.expect(tree.check, "names docs/gone.md")

    def test_leftover(self):
        self.tree.write("b.c", "int b;\n")
        self.expect(tree.check, "b.c: does not belong into the top folder")

    def test_missing_licence(self):
        self.tree.write("LICENSE", "All rights reserved\n")
        self.expect(tree.check, "Apache License 2.0")


if __name__ == "__main__":
    unittest.main()
