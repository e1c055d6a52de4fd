#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Small headers of every construct that declarations.py must read, and the bounds on what has no comment."""

import tempfile
import textwrap
import unittest
from pathlib import Path

import declarations
import rules


def read(text):
    """The declarations as "+name" (with a comment) and "-name" (without), in order."""
    found = declarations.read_declarations(textwrap.dedent(text))
    return [("+" if each.commented else "-") + each.name for each in found]


class Comments(unittest.TestCase):
    def test_above_behind_and_none(self):
        self.assertEqual(read("""
            /// Says what.
            int a();
            int b();  ///< in bytes
            int c();  // so does a plain one
            /* Of C's kind. */
            int d();
            int e();
            """), ["+a", "+b", "+c", "+d", "-e"])

    def test_blank_line_between(self):
        self.assertEqual(read("/// Of the whole file.\n\nint a();\n"), ["-a"])

    def test_trailing_comment_is_of_its_own_line_only(self):
        self.assertEqual(read("int a();  ///< of a\nint b();\n"), ["+a", "-b"])

    def test_second_line_of_a_trailing_comment(self):
        self.assertEqual(read("int a();  ///< of a,\n          ///< still of a\nint b();\n"), ["+a", "-b"])

    def test_several_lines(self):
        self.assertEqual(read("/// One.\n///\n/// Two.\nint a(int x,\n      int y);\nint b(int x,\n      int y);  // of b\n"),
                         ["+a", "+b"])

    def test_empty_comments_and_marks_for_tools_say_nothing(self):
        for comment in ("///", "//", "// NOLINT(bugprone-x)", "// NOLINTNEXTLINE", "// clang-format off", "/** */",
                        "// SPDX-License-Identifier: Apache-2.0", "// int old();", "// struct Old {", "// }", "/* int old(); */", "// -----",
                        "// ===", "/*****/", "// IWYU pragma: keep", "// int one();\n// int two();"):
            with self.subTest(comment=comment):
                self.assertEqual(read(f"{comment}\nint a();\n"), ["-a"])

    def test_comment_that_shows_code_is_one(self):
        for comment in ('/// {"code": 1}', "// As in\n//   f();", "// In bytes; of f()"):
            with self.subTest(comment=comment):
                self.assertEqual(read(f"{comment}\nint a();\n"), ["+a"])

    def test_comment_inside_of_a_text_is_none(self):
        self.assertEqual(read('const char* a(const char* x = "// no");\nint b(char x = \'"\', const char* y = R"(\n// no)");\n'),
                         ["-a", "-b"])

    def test_overloads_share_the_comment_of_the_first(self):
        self.assertEqual(read("""
            /// Both.
            void a(int x);
            void a(double x);
            void b();

            void a(char x);
            """), ["+a", "+a", "-b", "-a"])


class Functions(unittest.TestCase):
    def test_bodies_are_left_out(self):
        self.assertEqual(read("inline int a() {\n  struct X { int y(); };\n  // talk\n  return f({1, 2});\n}\nint b();\n"),
                         ["-a", "-b"])

    def test_templates(self):
        self.assertEqual(read("""
            /// Above the word template.
            template <typename T, typename U = std::vector<std::vector<T>>>
              requires std::integral<T> && requires(T x) { x.y(); }
            T a(U x);
            template <typename T>
            void b(T x) requires(sizeof(T) > 1);
            template <typename T>
            concept C = requires(T x) { x.y(); };
            template <>
            void b<int>(int x);
            template class D<int>;
            extern template class D<long>;
            """), ["+a", "-b", "-C"])

    def test_operators(self):
        self.assertEqual(read("""
            bool operator<(const A& a, const A& b);
            std::ostream& operator<<(std::ostream& out, const A& a);
            struct A {  // commented
              explicit operator bool() const { return true; }
              int operator()(int x) const;
              int& operator[](std::size_t at);
              bool operator==(const A&) const = default;
            };
            """), ["-operator<", "-operator<<", "+A", "-operatorbool", "-operator()", "-operator[]"])

    def test_results_of_every_kind(self):
        self.assertEqual(read("""
            [[nodiscard]] constexpr auto a(int x) noexcept(sizeof(int) > 2) -> std::pair<int, int>;
            decltype(f()) b();
            std::function<void(int)> c(std::function<void()> done = {}, int more = 5'000);
            weft::Result<std::map<std::string, int>> d();
            extern "C" {
            int e();
            }
            """), ["-a", "-b", "-c", "-d", "-e"])

    def test_constants_and_variables_are_not_counted(self):
        self.assertEqual(read("""
            inline constexpr std::size_t kMost = sizeof(int) * (1 << 3);
            constexpr std::array<int, 2> kBoth{1, 2};
            extern std::function<void()> hook;
            static_assert(kMost > 1, "text");
            void (*pointer)(int);
            """), [])

    def test_macros_are_not_counted(self):
        self.assertEqual(read("#define A(x) \\\n  int x();\nMACRO(int y)\nint b();\nOTHER(c);\nint d();\n"), ["-b", "-d"])


class Brackets(unittest.TestCase):
    def test_signs_among_brackets(self):
        self.assertEqual(read("template <bool B = (1 < 2)>\nint f();\nint g();\ntemplate <int N = sizeof(int[2 > 1])>\nint h();\n"), ["-f", "-g", "-h"])

    def test_what_is_not_closed_is_not_passed_over(self):
        for text, line in (("int a();\ntemplate <bool B = 1 < 2> int f();\nint g();\n", 2), ("int f(int x;\nint g();\n", 1), ("class A {\nint g();\n", 1),
                           ("namespace a {\nint g();\n", 1), ("}\nint g();\n", 1), (")\nint g();\n", 1), ("using A = int\n", 1),
                           ("struct A { int x[2; };\nint g();\n", 1)):
            with self.subTest(text=text):
                with self.assertRaises(declarations.NotUnderstood) as raised:
                    read(text)
                self.assertTrue(str(raised.exception).startswith(f"{line}: "), raised.exception)


class Types(unittest.TestCase):
    def test_kinds(self):
        self.assertEqual(read("""
            class A;
            enum class B : unsigned char;
            class A final : public C<int>, private D {};
            struct alignas(64) E { };
            union F { int x; double y; };
            enum class B : unsigned char { kOne, kTwo };
            enum G { kThree = f(3) };
            using H = std::map<int, void (*)(int)>;
            typedef unsigned long I;
            using std::string;
            """), ["-A", "-E", "-F", "-B", "-G", "-H", "-I"])

    def test_only_public_members(self):
        self.assertEqual(read("""
            /// Commented.
            class A : public B {
              void hidden();
              struct Hidden { void hidden(); };
              friend class C;
              friend bool operator==(const A& a, const A& b) { return a.x == b.x; }

             public:
              using B::B;
              /// Of one.
              void one();
              void two() const { x_ = 1; }
             protected:
              void hidden_too();
             private:
              void hidden_three();
              int x_ = 0;
            };
            /// Commented.
            struct D {
              void three();
             private:
              void hidden();
             public:
              void four();
            };
            /// Nothing public.
            class E {
              void hidden() {}
            };
            int f();
            """), ["+A", "+one", "-two", "+D", "-three", "-four", "+E", "-f"])

    def test_members_of_which_there_is_nothing_to_say(self):
        self.assertEqual(read("""
            class A : public B {  // commented
             public:
              A();
              ~A() override;
              A(const A&) = delete;
              A& operator=(const A& other);
              A(A&& other) noexcept;
              A& operator=(A&&) noexcept = default;
              void a() override;
              int b() const final { return 1; }
              virtual void c() = 0;
            };
            """), ["+A", "-c"])

    def test_constructors(self):
        self.assertEqual(read("""
            class A {  // commented
             public:
              explicit A(int x) : x_(x), y_{x, x}, B<int>(x) {}
              A(const A& other, int x);
              template <typename... T>
              A(T&&... all) : B(std::forward<T>(all))... {
                f();
              }
              void after();
            };
            """), ["+A", "-A", "-A", "-A", "-after"])

    def test_data_counts_where_the_struct_has_no_comment(self):
        self.assertEqual(read("""
            struct A {
              int x = 0;  ///< in bytes
              std::function<void(int)> y;
              std::vector<int> z{1, 2};
              static constexpr int w = f(2);
              int (*v)(int);
            };
            /// Commented.
            struct B {
              int x = 0;
              std::function<void(int)> y = [](int) {};
            };
            class C {
             public:
              int x;
            };
            """), ["-A", "+x", "-y", "-z", "-w", "-v", "+B", "-C"])

    def test_nested_types(self):
        self.assertEqual(read("""
            /// Commented.
            struct A {
              struct B {
                int x;  // in packets
                enum C { kOne };
              };
              struct D;
              union { int e; double f; };
              struct { int g; } h;
            };
            """), ["+A", "-B", "+x", "-C"])


class Namespaces(unittest.TestCase):
    def test_hidden_ones(self):
        self.assertEqual(read("""
            namespace a::b { int one(); }
            namespace { int hidden(); }
            namespace a::detail {
            int hidden();
            struct Hidden { int x(); };
            }
            inline namespace v1 { int two(); }
            namespace c = a::b;
            int three();
            """), ["-one", "-two", "-three"])


class Bounds(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="weft-declarations-")
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)

    def plant(self, name, commented, bare):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = [f"int c{number}();  // commented" for number in range(commented)]
        path.write_text("\n".join(lines + [f"int b{number}();" for number in range(bare)]) + "\n", encoding="utf-8")

    def test_within(self):
        self.plant("fabric/a.hpp", 99, 1)
        self.plant("tests/a.hpp", 0, 50)  # not of the rooms
        self.plant("fabric/a.cpp", 0, 50)  # not a header
        complaints, summary = rules.check_comments(self.root, allowed=1)
        self.assertEqual(complaints, [])
        self.assertIn("1 of 100", "\n".join(summary))

    def test_more_than_the_number(self):
        self.plant("fabric/a.hpp", 90, 1)
        self.plant("daemon/programs/weftd/b.hpp", 90, 2)
        complaints, _ = rules.check_comments(self.root, allowed=2)
        self.assertIn("3 public declarations without a comment, at most 2 are allowed", complaints[0])
        self.assertIn("daemon/programs/weftd/b.hpp: 2", complaints[1])  # the worst first
        self.assertIn("b0 (91), b1 (92)", complaints[1])
        self.assertIn("fabric/a.hpp: 1", complaints[2])

    def test_more_than_a_tenth(self):
        self.plant("api/a.hpp", 8, 2)
        complaints, _ = rules.check_comments(self.root, allowed=1000)
        self.assertIn("20.0 % of the public declarations", complaints[0])

    def test_fewer_than_the_number(self):
        self.plant("api/a.hpp", 50, 1)
        complaints, _ = rules.check_comments(self.root, allowed=3)
        self.assertEqual(len(complaints), 1, complaints)
        self.assertIn("write UNCOMMENTED = 1", complaints[0])

    def test_header_that_is_not_understood(self):
        self.plant("api/a.hpp", 50, 1)
        for others in (1, 0):
            (self.root / "api/b.hpp").write_text("int a();  // commented\ntemplate <bool B = 1 < 2> int f();\n", encoding="utf-8")
            complaints, _ = rules.check_comments(self.root, allowed=others)
            self.assertEqual(len(complaints), 1, complaints)
            self.assertIn("api/b.hpp:2: the bracket '<' is not closed", complaints[0])

    def test_nothing_read_is_no_proof(self):
        self.assertEqual(len(rules.check_comments(self.root, allowed=3)[0]), 1)


if __name__ == "__main__":
    unittest.main()
