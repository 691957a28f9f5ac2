"""The scripts of `make lint` that check names: a planted offence is found, and allowed uses are not."""

import contextlib
import io
import os
import shutil
import sys
import unittest
from unittest import mock

from bot_process import PACKAGE, BotFolderTestCase

SCRIPTS = os.path.join(os.path.dirname(PACKAGE), "scripts")
if os.path.isdir(SCRIPTS):
    sys.path.insert(0, SCRIPTS)
    import check_glossary
    import list_shared_type_names

TABLE = "| Name | Crates | Reason |\n|---|---|---|\n"


def run(script, *arguments):
    """The exit code and the output of a script."""
    output = io.StringIO()
    with mock.patch.object(sys, "argv", ["script", *arguments]), contextlib.redirect_stdout(output):
        code = script.main()
    return code, output.getvalue()


@unittest.skipUnless(os.path.isdir(SCRIPTS), "the folder scripts is missing")
class Glossary(BotFolderTestCase):
    def setUp(self):
        super().setUp()
        os.mkdir(os.path.join(self.folder, "scripts"))
        shutil.copy(os.path.join(SCRIPTS, "old_names.tsv"), os.path.join(self.folder, "scripts"))

    def check(self, name, text):
        """The offences of one planted file."""
        path = self.write(name, text)
        found = check_glossary.offences(self.folder)
        os.remove(path)
        return found

    def test_planted_offences_are_found_with_file_and_line(self):
        for name, text, line, old in (
            ("crates/agon-host/src/x.rs", "\nstruct LinesPlayer;\n", 2, "LinesPlayer"),
            ("crates/agon-host/src/x.rs", "// See `LinesPlayer`.\n", 1, "LinesPlayer"),
            ("crates/agon-host/src/x.rs", "pub(crate) enum Trouble {}\n", 1, "Trouble"),
            ("crates/agon-core/src/x.rs", "\n\nconst PATIENCE: u8 = 1;\n", 3, "PATIENCE"),
            ("crates/agon/tests/x.rs", "static MOST: u8 = 1;\n", 1, "MOST"),
            ("crates/agon-grid/src/desk/mod.rs", "fn f() {}\n", 1, "desk"),
            ("python/agon_bot/x.py", "class WarmSession:\n    pass\n", 1, "WarmSession"),
            ("python/agon_bot/x.py", "from y import how_it_ended\n", 1, "how_it_ended"),
            ("python/tests/x.py", "PATIENCE = 10.0\n", 1, "PATIENCE"),
            ("web/src/app/x.ts", "export interface Parcel {}\n", 1, "Parcel"),
        ):
            with self.subTest(old=old, name=name):
                found = self.check(name, text)
                self.assertTrue(any(place.startswith(f"{name}:{line}: old ") for place in found), found)
                self.assertTrue(any(f" {old}; use " in place for place in found), found)

    def test_old_file_is_found(self):
        found = self.check("python/agon_bot/lean.py", "")
        self.assertEqual(found, ["python/agon_bot/lean.py:1: this path has a new name: stateless_session.py"])

    def test_strings_and_other_uses_of_a_word_are_allowed(self):
        for name, text in (
            ("crates/agon-host/src/x.rs", '#[serde(rename = "LinesPlayer")]\nconst S: &str = r#"how_it_ended "PATIENCE" x"#;\n'),
            ("crates/agon-host/src/x.rs", "use toml::Table;\nfn f<'a>(x: &'a str) -> char { '\"' }\n// The desk of a person.\n"),
            ("crates/agon-core/src/x.rs", "fn wait() { let x = Duration::PATIENCE; }\n"),
            ("python/agon_bot/x.py", "KEY = 'how_it_ended'\nif PATIENCE == 3:\n    pass\n"),
            ("web/src/app/x.ts", "const key = 'Parcel';\n"),
            ("web/dist/x.js", "class WarmSession {}\n"),
        ):
            with self.subTest(name=name):
                self.assertEqual(self.check(name, text), [])

    def test_exit_code_is_1_with_an_offence_and_0_without(self):
        self.assertEqual(run(check_glossary, "--root", self.folder), (0, "no old names\n"))
        self.write("crates/agon/src/x.rs", "const PATIENCE: u8 = 1;\n")
        code, output = run(check_glossary, "--root", self.folder)
        self.assertEqual((code, output.splitlines()[-1]), (1, "error: 1 old names"))

    def test_malformed_row_is_an_error_with_its_line(self):
        self.write("scripts/old_names.tsv", "# A comment.\nsort\tcrates\ta\tb\n")
        with self.assertRaises(SystemExit) as caught:
            check_glossary.offences(self.folder)
        self.assertIn("old_names.tsv:2: expected kind", str(caught.exception))


@unittest.skipUnless(os.path.isdir(SCRIPTS), "the folder scripts is missing")
class SharedTypeNames(BotFolderTestCase):
    def setUp(self):
        super().setUp()
        self.write("crates/a/src/lib.rs", "pub struct Shared { x: u8 }\npub enum Own {}\n")
        self.write("crates/b/src/deep/mod.rs", "pub(crate) type Shared = u8;\n")

    def check(self, rows):
        self.write("docs/type-names.md", TABLE + rows)
        return run(list_shared_type_names, "--root", self.folder)

    def test_shared_name_without_a_reason_is_an_error(self):
        code, output = self.check("")
        self.assertEqual(code, 1)
        self.assertIn("Shared: a, b\nerror: Shared is defined in a, b: rename it", output)
        self.assertNotIn("Own", output)

    def test_shared_name_with_a_reason_passes(self):
        self.assertEqual(self.check("| `Shared` | `a`, `b` | both |\n"), (0, "Shared: a, b\n"))

    def test_outdated_rows_are_errors_and_fixed_by_fix(self):
        code, output = self.check("| `Shared` | `a`, `c` | both |\n| `Gone` | `a`, `b` | none |\n")
        self.assertEqual(code, 1)
        self.assertIn("docs/type-names.md says a, c", output)
        self.assertIn("Gone is not shared any more", output)
        self.assertEqual(run(list_shared_type_names, "--root", self.folder, "--fix")[0], 0)
        with open(os.path.join(self.folder, "docs", "type-names.md"), encoding="utf-8") as file:
            self.assertEqual(file.read(), TABLE + "| `Shared` | `a`, `b` | both |\n")

    def test_row_without_a_reason_is_an_error_with_its_line(self):
        with self.assertRaises(SystemExit) as caught:
            self.check("| `Shared` | `a`, `b` |  |\n")
        self.assertIn("type-names.md:3:", str(caught.exception))

    def test_associated_types_local_types_and_test_modules_do_not_count(self):
        for text in (
            "impl Iterator for X {\n    type Item = u8;\n    fn next() { struct Local; }\n}\n",
            "trait Game {\n    type Item: Copy;\n}\nfn f() {\n    struct Local;\n}\n",
            "#[cfg(test)]\n#[allow(x)]\nmod tests {\n    struct Item;\n    struct Local { x: u8 }\n}\n",
            '// struct Item;\nconst S: &str = "struct Local;";\n',
        ):
            code = check_glossary.without_strings(text, "x.rs", with_comments=False)
            self.assertEqual(list_shared_type_names.type_names(code) - {"Game"}, set(), text)

    def test_types_of_all_forms_count(self):
        code = "pub struct A<'a>(&'a u8);\nmod m {\n    #[derive(X)]\n    enum B { C, D { e: u8 } }\n}\nunsafe trait F {}\nname! { pub enum G { H = 1 } }\n"
        self.assertEqual(list_shared_type_names.type_names(code), {"A", "B", "F", "G"})


if __name__ == "__main__":
    unittest.main()
