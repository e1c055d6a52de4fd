# SPDX-License-Identifier: Apache-2.0
"""Reads the public declarations of a C++ header and says which of them have a comment.

A heuristic reader of the C++ that this tree uses, not a compiler: it needs no include and reads all headers in a few
seconds. Counted are functions, classes, structs, unions, enums, aliases and concepts that other files can use: those
in named namespaces, and public members. Data members are counted only in a struct that has no comment itself.

A comment counts when it stands directly above the declaration, without a blank line between, or behind it on the same
line. Overloads that follow each other without a blank line share the comment of the first.

Not counted, as there is nothing to add to what the language or the base class says: destructors, default, copy and
move constructors, copy and move assignments, functions that are defaulted or deleted, overriding functions, explicit
specialisations, forward declarations, friends, macros, and all that is private, protected or in a namespace `detail`
or without a name.
"""

import re
from typing import NamedTuple

TOKEN = re.compile(r"""
    (?P<comment>//[^\n]*|/\*.*?\*/)
  | (?P<raw>(?:u8|[uUL])?R"(?P<mark>[^()\s\\]{0,16})\(.*?\)(?P=mark)")
  | (?P<text>(?:u8|[uUL])?"(?:\\.|[^"\\\n])*")
  | (?P<letter>(?:u8|[uUL])?'(?:\\.|[^'\\\n])+')
  | (?P<number>\.?\d(?:'?[\w.]|(?<=[eEpP])[+-])*)
  | (?P<name>[A-Za-z_]\w*)
  | (?P<sign>::|->|\.\.\.|&&|\|\||<=>|[=!]=|\[\[|\]\]|[^\s\w])
""", re.VERBOSE | re.DOTALL)
DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n\\]|\\.)*", re.MULTILINE | re.DOTALL)
# Marks for tools and rulers say nothing, nor does code that is out of use: a plain comment that ends as code does.
NO_COMMENT = re.compile(r"^(//[/!]?<?|/\*+<?)\s*((NOLINT|clang-format|SPDX-License-Identifier|IWYU pragma).*|[^\w]*)(\*/)?$"
                        r"|^(//(?![/!])|/\*(?![*!])).*[;{}]\s*(\*/)?$", re.DOTALL)

CLOSING = {"(": ")", "[": "]", "{": "}", "<": ">", "[[": "]]"}
TYPES = {"class", "struct", "union", "enum"}
ACCESS = {"public", "private", "protected"}
# A parenthesis behind one of these does not start a list of parameters.
NO_PARAMETERS = {"decltype", "noexcept", "explicit", "alignas", "requires", "sizeof", "__attribute__"}


class NotUnderstood(Exception):
    """The reader has lost its way: what follows would not be counted."""


class Token(NamedTuple):
    text: str
    line: int


class Declaration(NamedTuple):
    name: str
    line: int
    commented: bool


class Header:
    """The tokens of one header, and on which lines there are comments."""

    def __init__(self, text):
        self.tokens = []
        self.above = set()  # lines on which a comment ends that has its lines to itself
        self.beside = set()  # lines on which a comment stands
        # A directive goes, with its continuation lines; the lines keep their numbers.
        text = DIRECTIVE.sub(lambda match: "\n" * match.group(0).count("\n"), text)
        line, last = 1, 0
        own_line = -1  # the last line of comments that have had their lines to themselves
        for match in TOKEN.finditer(text):
            line += text.count("\n", last, match.start())
            last = match.start()
            word = match.group(0)
            if match.lastgroup == "comment":
                end = line + word.count("\n")
                alone = not self.tokens or self.tokens[-1].line < line
                behind = re.match(r"//[/!]<|/\*[*!]<", word)  # belongs to what stands before it
                # Lines such as "//" inside of a comment do not break it.
                if alone and not behind and (not NO_COMMENT.match(word) or own_line == line - 1):
                    self.above.add(end)
                    own_line = end
                elif not alone and not NO_COMMENT.match(word):
                    self.beside.add(line)
            else:
                self.tokens.append(Token(word, line))

    def __getitem__(self, index):
        return self.tokens[index].text if 0 <= index < len(self.tokens) else ""

    def line(self, index):
        return self.tokens[min(index, len(self.tokens) - 1)].line

    def __len__(self):
        return len(self.tokens)

    def has_comment(self, start, end):
        return start - 1 in self.above or end in self.beside

    def behind(self, index):
        """The index behind the bracket that closes the one at `index`."""
        opened, start, depth = self[index], index, 0
        if opened not in CLOSING:
            raise NotUnderstood(f"{self.line(index)}: a bracket is expected here")
        while index < len(self):
            if opened == "<" and self[index] in ("(", "{", "["):  # a sign within is no bracket
                index = self.behind(index)
                continue
            depth += (self[index] == opened) - (self[index] == CLOSING[opened])
            index += 1
            if depth == 0:
                return index
        raise NotUnderstood(f"{self.line(start)}: the bracket '{opened}' is not closed")

    def behind_statement(self, index):
        """The index behind the next `;` that is in no bracket."""
        start = index
        while index < len(self) and self[index] != ";":
            index = self.behind(index) if self[index] in ("(", "{", "[") else index + 1
        if index >= len(self):
            raise NotUnderstood(f"{self.line(start)}: there is no ';' behind this")
        return index + 1


class Reader:
    def __init__(self, text):
        self.header = Header(text)
        self.found = []
        self.previous = ("", -1, False)  # of the declaration before: name, last line, commented

    def add(self, name, start, end):
        """`start`, `end`: the lines of its head. Returns whether it has a comment."""
        commented = self.header.has_comment(start, end)
        if not commented and self.previous[0] == name and self.previous[1] == start - 1:
            commented = self.previous[2]
        self.found.append(Declaration(name, start, commented))
        return commented

    def read_scope(self, index, counts, class_name="", is_hidden=False, counts_data=False):
        """From behind an opening brace (or the start) to behind the closing one. Returns that index.

        `counts`: whether its public declarations do. `is_hidden`: it begins as a class does, with private members.
        """
        header, visible, start = self.header, counts and not is_hidden, index
        while index < len(header):
            word = header[index]
            if word == "}":
                if start == 0:
                    raise NotUnderstood(f"{header.line(index)}: this '}}' closes nothing")
                return index + 1
            if word in ACCESS and header[index + 1] == ":":
                visible = counts and word == "public"
                index += 2
            elif word == ";":
                index += 1
            elif word in (")", "]", ">"):
                raise NotUnderstood(f"{header.line(index)}: this '{word}' closes nothing")
            elif word == "namespace" or (word == "inline" and header[index + 1] == "namespace"):
                index = self.read_namespace(index, counts)
            elif word == "extern" and header[index + 1].endswith('"') and header[index + 2] == "{":
                index = self.read_scope(index + 3, counts)
            elif word in ("static_assert", "extern") or (word == "template" and header[index + 1] != "<"):
                index = header.behind_statement(index)
            else:
                index = self.read_declaration(index, visible, class_name, counts_data)
        if start:
            raise NotUnderstood(f"{header.line(start - 1)}: the bracket '{{' is not closed")
        return index

    def read_namespace(self, index, counts):
        header, name = self.header, ""
        while index < len(header) and header[index] not in ("{", ";"):
            name = header[index]
            index += 1
        if header[index] == ";":
            return index + 1
        hidden = name in ("namespace", "detail", "internal")
        return self.read_scope(index + 1, counts and not hidden)

    def read_declaration(self, index, visible, class_name, counts_data):
        """One declaration at `index`, of a namespace or (`class_name`) of a class."""
        header, start = self.header, self.header.line(index)
        while header[index] in ("template", "[[", "requires"):
            if header[index] == "requires":
                index = self.behind_requirement(index)
            else:
                # An explicit specialisation is what its template says.
                visible = visible and not (header[index] == "template" and header[index + 2] == ">")
                index = header.behind(index + (header[index] == "template"))
        while header[index] in ("inline", "static", "constexpr", "mutable", "virtual", "explicit", "typename"):
            index += 1
        word = header[index]
        if word == "friend":
            end = self.behind_head(index)
            return header.behind(end) if header[end] == "{" else end + 1
        if word in ("using", "typedef", "concept"):
            return self.read_alias(index, start, visible)
        if word in TYPES:
            brace = self.brace_of_type(index)
            if brace:
                return self.read_type(index, brace, start, visible)
        return self.read_function_or_data(index, start, visible, class_name, counts_data)

    def behind_requirement(self, index):
        """Behind a requires clause: `requires (…)` or `requires A<T> && B<T>`."""
        header = self.header
        index += 1
        while index < len(header):
            if header[index] == "requires":  # a requires expression
                index += 1
                if header[index] == "(":
                    index = header.behind(index)
                index = header.behind(index)
            elif header[index] == "(":
                index = header.behind(index)
            else:
                while header[index + 1] == "::":
                    index += 2
                index += 1
                if header[index] == "<":
                    index = header.behind(index)
            if header[index] not in ("&&", "||"):
                return index
            index += 1
        return index

    def read_alias(self, index, start, visible):
        header, word = self.header, self.header[index]
        end = header.behind_statement(index)
        words = [header[at] for at in range(index, end)]
        if word == "concept" or (word == "using" and "=" in words):
            name = words[1]
        elif word == "typedef":
            name = words[-2]
        else:
            return end
        if visible:
            self.remember(name, start, header.line(end - 1), header.line(end - 1))
        return end

    def remember(self, name, start, head_end, end):
        commented = self.add(name, start, head_end)
        self.previous = (name, end, commented)
        return commented

    def brace_of_type(self, index):
        """The index of the brace of a class's definition; None for a forward declaration, a function or a variable."""
        header = self.header
        while index < len(header) and header[index] not in ("{", ";", "=", ")"):
            if header[index] in ("<", "[["):
                index = header.behind(index)
            elif header[index] == "(":
                if header[index - 1] not in NO_PARAMETERS:
                    return None
                index = header.behind(index)
            else:
                index += 1
        return index if header[index] == "{" else None

    def read_type(self, index, brace, start, visible):
        header, keyword = self.header, self.header[index]
        index += 1
        if keyword == "enum" and header[index] in ("class", "struct"):
            index += 1
        while header[index] in ("[[", "alignas"):
            index = header.behind(index + (header[index] == "alignas"))
        name = header[index]
        while header[index + 1] == "::":  # struct Outer::Inner {
            index += 2
            name = header[index]
        if name in ("{", ":"):  # without a name: a member's type, or constants
            return header.behind_statement(header.behind(brace))
        commented = True
        if visible:
            commented = self.add(name, start, header.line(brace))
        if keyword == "enum":
            end = header.behind(brace)
        else:
            end = self.read_scope(brace + 1, visible, name, keyword == "class", keyword == "struct" and not commented)
        self.previous = (name, header.line(end - 1), commented)
        return header.behind_statement(end)

    def read_function_or_data(self, index, start, visible, class_name, counts_data):
        header = self.header
        name_at, parameters = self.parameters_of(index)
        if parameters is None:
            end = header.behind_statement(index)
            if visible and counts_data:
                self.remember(self.name_of_data(index), start, header.line(end - 1), header.line(end - 1))
            return end
        name = header[name_at]
        if name_at == index and name not in (class_name, "operator"):  # NAME(...) at the start is a macro
            index = header.behind(parameters)
            return index + 1 if header[index] == ";" else index
        end = self.behind_head(header.behind(parameters))
        tail = [header[at] for at in range(header.behind(parameters), end)]
        behind = header.behind(end) if header[end] == "{" else end + 1
        if visible and not self.is_plain(index, name_at, parameters, tail, class_name):
            if name == "operator":
                name += "".join(header[at] for at in range(name_at + 1, parameters))
            last = header.line(behind - 1)
            # A short body is on the line of its head; what stands behind a long one belongs to nothing.
            self.remember(name, start, header.line(end), last)
        return behind

    def parameters_of(self, index):
        """The indices of a function's name and of its list of parameters; (None, None) for data."""
        header = self.header
        while index < len(header) and header[index] not in (";", "=", "{", "}", ":"):
            word = header[index]
            if word == "operator":
                at = index + 1
                if header[at] == "(":
                    at += 2
                while header[at] not in ("(", ";", ""):
                    at += 1
                return index, at
            if word in ("[", "[["):
                index = header.behind(index)
            elif word == "<":
                index = header.behind(index)
            elif word == "(":
                if header[index + 1] in ("*", "&"):
                    return None, None  # a pointer to a function
                if header[index - 1] not in NO_PARAMETERS:
                    return index - 1, index
                index = header.behind(index)
            else:
                index += 1
        return None, None

    def name_of_data(self, index):
        header, name = self.header, ""
        while header[index] not in (";", "=", "{", "[", ":", ""):
            if header[index] == "(":
                return header[header.behind(index) - 2]  # a pointer to a function: type (*name)(...)
            if header[index] == "<":
                index = header.behind(index)
            else:
                name = header[index]
                index += 1
        return name

    def behind_head(self, index):
        """From behind a list of parameters to the `;` or to the brace of the body, over a constructor's initialisers."""
        header = self.header
        while index < len(header) and header[index] not in (";", "{"):
            if header[index] == ":":
                index = self.behind_initialisers(index + 1)
                break
            if header[index] == "requires":
                index = self.behind_requirement(index)
            else:
                index = header.behind(index) if header[index] in ("(", "[") else index + 1
        return index

    def behind_initialisers(self, index):
        header = self.header
        while index < len(header):
            while index < len(header) and header[index] not in ("(", "{"):
                index = header.behind(index) if header[index] == "<" else index + 1
            index = header.behind(index)
            if header[index] == "...":
                index += 1
            if header[index] != ",":
                return index
            index += 1
        return index

    def is_plain(self, index, name_at, parameters, tail, class_name):
        """Is it a function of which there is nothing to say?"""
        header = self.header
        if "override" in tail or "final" in tail or tail[-2:] in (["=", "default"], ["=", "delete"]):
            return True
        if class_name and header[name_at - 1] == "~" and name_at > index:
            return True
        if header[name_at] == "operator" and not (class_name and header[name_at + 1] == "="):
            return False
        if header[name_at] != "operator" and (not class_name or header[name_at] != class_name):
            return False
        words = [header[at] for at in range(parameters + 1, header.behind(parameters) - 1)]
        of_itself = [word for word in words if word not in ("const", "&", "&&")]
        return not words or (of_itself[:1] == [class_name] and len(of_itself) <= 2 and "," not in words)


def read_declarations(text):
    """The public declarations of a header, in the order of its lines. Raises NotUnderstood ("line: what") where it cannot tell."""
    reader = Reader(text)
    reader.read_scope(0, True)
    return reader.found
