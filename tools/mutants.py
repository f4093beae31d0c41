"""Finds the places of a C++ source where a small change makes a mutant, and writes sources in which
each chosen mutant can be switched on when the program runs. Used by tools/mutate.

Reads sources as clang-format leaves them: binary operators stand between blanks, the brackets of
templates do not."""
import dataclasses
import re

TOKEN = re.compile(r"""
    (?P<skip>\s+|//[^\n]*|/\*.*?\*/|(?<![^\n])\#(?:[^\n]*\\\n)*[^\n]*)
  | (?P<text>(?:u8|L)?R"(?P<mark>[^(]*)\(.*?\)(?P=mark)"|(?:u8)?"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])+')
  | (?P<number>(?:0x[0-9a-fA-F']+|[0-9][0-9']*(?:\.[0-9]*)?(?:e[-+]?[0-9]+)?|\.[0-9]+)[a-zA-Z]*)
  | (?P<name>[A-Za-z_]\w*)
  | (?P<mark2><=>|\.\.\.|->\*?|<<=|>>=|<<|::|\+\+|--|&&|\|\||[-+*/%&|^=!<>]=|[-+*/%&|^~!<>=?:;,.()\[\]{}])
""", re.VERBOSE | re.DOTALL)

SWAPS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "+": "-", "-": "+",
         "*": "/", "/": "*", "%": "*", "&&": "||", "||": "&&"}
ASSIGNMENTS = {"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="}
# Where an expression begins or ends, outside of brackets.
EDGES = ASSIGNMENTS | {",", ";", "?", ":", "return", "case"}
OPENING = {"(": ")", "[": "]", "{": "}", "<T": ">T"}
CLOSING = {close: open_ for open_, close in OPENING.items()}
KEYWORDS = {"return", "if", "for", "while", "switch", "else", "do", "case", "break", "continue",
            "using", "static", "const", "constexpr", "auto", "default", "goto", "throw", "delete"}


@dataclasses.dataclass
class Token:
    kind: str
    text: str  # "<T" and ">T" for the brackets of templates
    begin: int
    end: int
    inside: bool = False  # a function's body
    match: int = -1  # the other bracket


@dataclasses.dataclass
class Mutant:
    begin: int  # of the text that is replaced
    end: int
    changed: str  # what stands there in the mutant
    what: str  # "a < b" to "a <= b", in words
    form: str  # value, condition or statement
    line: int = 0  # of the change
    last_line: int = 0  # of the text
    file: str = ""
    number: int = 0
    is_number: bool = False


def tokenize(source):
    tokens, at = [], 0
    while at < len(source):
        found = TOKEN.match(source, at)
        if found is None:
            raise ValueError(f"found {source[at:at + 20]!r}, expected a token")
        if found.lastgroup != "skip" and found.group("skip") is None:
            kind = next(k for k in ("text", "number", "name", "mark2") if found.group(k))
            tokens.append(Token(kind, found.group(0), found.start(), found.end()))
        at = found.end()
    return tokens


def match_brackets(source, tokens):
    stack = []
    for i, token in enumerate(tokens):
        spaced = source[token.begin - 1:token.begin].isspace()
        if token.text == "<" and (not spaced or tokens[i - 1].text == "template"):
            token.text = "<T"
        elif token.text == ">" and stack and tokens[stack[-1]].text == "<T":
            token.text = ">T"
        if token.text in OPENING:
            stack.append(i)
        elif token.text in CLOSING:
            if not stack or tokens[stack[-1]].text != CLOSING[token.text]:
                raise ValueError(f"found {token.text} that nothing opens at {token.begin}")
            token.match = stack.pop()
            tokens[token.match].match = i


def opens_body(tokens, at):
    """Whether the { at `at`, outside of functions, begins the body of one."""
    i = at - 1
    while i >= 0 and (tokens[i].kind == "name" or tokens[i].text in ("::", ">T", "->", "&", "*")):
        if tokens[i].text in ("struct", "class", "namespace", "enum", "union"):
            return False
        i = tokens[i].match - 1 if tokens[i].text == ">T" else i - 1
    return i >= 0 and tokens[i].text == ")"


def mark_bodies(tokens):
    at = 0
    while at < len(tokens):
        if tokens[at].text == "{" and opens_body(tokens, at):
            for inner in range(at + 1, tokens[at].match):
                tokens[inner].inside = True
            at = tokens[at].match
        at += 1
    # What the compiler has to know: nothing can be switched there.
    for i, token in enumerate(tokens):
        if token.text in ("constexpr", "static_assert", "case", "using", "KHEYA_STATUS_CODE"):
            end = i
            stops = (";", "{") if token.text != "case" else (":",)
            while end < len(tokens) and (tokens[end].text not in stops):
                end = tokens[end].match if tokens[end].text == "(" else end
                tokens[end].inside = False
                end += 1
            if token.text == "constexpr" and tokens[i - 1].text == "if":
                for inner in range(i, tokens[i + 1].match):
                    tokens[inner].inside = False
        if token.text == "<T" and token.match > 0:
            for inner in range(i, token.match):
                tokens[inner].inside = False


def one_line(text):
    """`text` without comments and ends of lines, so that the lines of a file stay where they are."""
    parts, at = [], 0
    while at < len(text):
        found = TOKEN.match(text, at)
        parts.append(" " if found.lastgroup == "skip" else found.group(0))
        at = found.end()
    return "".join(parts)


class Finder:
    """The mutants of one file, in the order of its text."""

    def __init__(self, file, source):
        self.file, self.source = file, source
        self.tokens = tokenize(source)
        match_brackets(source, self.tokens)
        mark_bodies(self.tokens)
        self.mutants = []

    def find(self):
        for i, token in enumerate(self.tokens):
            if not token.inside:
                continue
            if token.text in SWAPS:
                self.swap_operator(i)
            elif token.text in ("+=", "-=", "*=", "/="):
                other = {"+=": "-=", "-=": "+=", "*=": "/=", "/=": "*="}[token.text]
                self.change_statement(i, token, other)
            elif token.kind == "number":
                self.change_number(token)
            elif token.text == "!":
                self.remove_not(i)
            elif token.text in ("min", "max") and self.text(i - 2, i) == "std::":
                self.swap_extreme(i)
            elif token.text == "if":
                self.negate_condition(i)
            if self.tokens[i - 1].text in (";", "{", "}", ")", "else"):
                self.drop_statement(i)
        return self.mutants

    def text(self, first, last):
        return self.source[self.tokens[first].begin:self.tokens[last - 1].end]

    def add(self, begin, end, changed, what, form="value"):
        lines = [self.source.count("\n", 0, at) + 1 for at in (begin, end)]
        self.mutants.append(Mutant(begin, end, one_line(changed), what, form, lines[0], lines[1],
                                   self.file))

    def around(self, i):
        """First and last token of the expression that the operator `i` is in."""
        first = last = i
        while first > 0 and self.tokens[first - 1].text not in EDGES and (
                self.tokens[first - 1].text not in OPENING):
            first -= 1
            if self.tokens[first].text in CLOSING:
                first = self.tokens[first].match
        while self.tokens[last + 1].text not in EDGES and (
                self.tokens[last + 1].text not in CLOSING):
            last += 1
            if self.tokens[last].text in OPENING:
                last = self.tokens[last].match
        return first, last

    def replaced(self, first, last, i, text):
        token = self.tokens[i]
        return (self.source[self.tokens[first].begin:token.begin] + text +
                self.source[token.end:self.tokens[last].end])

    def swap_operator(self, i):
        token = self.tokens[i]
        before, after = self.source[token.begin - 1], self.source[token.end]
        if not before.isspace() or not after.isspace() or self.tokens[i - 1].text == "operator":
            return  # a sign, a pointer, a reference
        first, last = self.around(i)
        if first == i or last == i:
            return
        self.add(self.tokens[first].begin, self.tokens[last].end,
                 self.replaced(first, last, i, SWAPS[token.text]),
                 f"{token.text} to {SWAPS[token.text]} in "
                 f"'{' '.join(self.text(first, last + 1).split())}'")
        self.mutants[-1].line = self.source.count("\n", 0, token.begin) + 1

    def change_number(self, token):
        if not re.fullmatch(r"[0-9]+[uU]?", token.text):
            return
        digits = token.text.rstrip("uU")
        for step in (1, -1):
            if int(digits) + step >= 0:
                value = f"{int(digits) + step}{token.text[len(digits):]}"
                self.add(token.begin, token.end, value, f"{token.text} to {value}")
                self.mutants[-1].is_number = True

    def remove_not(self, i):
        last = i + 1
        while self.tokens[last].text in ("*", "!", "-"):
            last += 1
        if self.tokens[last].text == "(":
            last = self.tokens[last].match
        while True:
            after = self.tokens[last + 1].text
            if after in ("(", "[", "<T"):
                last = self.tokens[last + 1].match
            elif after in (".", "->", "::"):
                last += 2
            else:
                break
        self.add(self.tokens[i].begin, self.tokens[last].end,
                 self.source[self.tokens[i].end:self.tokens[last].end],
                 f"'{self.text(i, last + 1)}' without !", "condition")

    def swap_extreme(self, i):
        last = i + 1
        if self.tokens[last].text == "<T":
            last = self.tokens[last].match + 1
        if self.tokens[last].text != "(":
            return
        last = self.tokens[last].match
        other = {"min": "max", "max": "min"}[self.tokens[i].text]
        self.add(self.tokens[i - 2].begin, self.tokens[last].end,
                 self.replaced(i - 2, last, i, other),
                 f"std::{other} for '{self.text(i - 2, last + 1)}'")

    def negate_condition(self, i):
        if self.tokens[i + 1].text != "(":
            return
        close = self.tokens[i + 1].match
        first = i + 2
        at = first
        while at < close:
            if self.tokens[at].text == ";":
                first = at + 1
            elif self.tokens[at].text == "=" and first == i + 2 and not any(
                    t.text == ";" for t in self.tokens[at:close]):
                return  # a declaration
            at = self.tokens[at].match + 1 if self.tokens[at].text in OPENING else at + 1
        condition = self.source[self.tokens[first].begin:self.tokens[close - 1].end]
        self.add(self.tokens[first].begin, self.tokens[close - 1].end, f"!({condition})",
                 f"not '{' '.join(condition.split())}'", "condition")

    def statement_end(self, i):
        at = i
        while at < len(self.tokens) and self.tokens[at].text not in (";", "}", ")", "]"):
            at = self.tokens[at].match + 1 if self.tokens[at].text in OPENING else at + 1
        return at if at < len(self.tokens) and self.tokens[at].text == ";" else None

    def is_guarded(self, i):
        """Whether a statement follows the condition of an if."""
        if self.tokens[i - 1].text != ")":
            return False
        return self.tokens[self.tokens[i - 1].match - 1].text == "if"

    def drop_statement(self, i):
        token = self.tokens[i]
        end = self.statement_end(i)
        if end is None or token.kind != "name" or self.tokens[i - 1].text == ")" and (
                not self.is_guarded(i)):
            return
        text = self.text(i, end + 1)
        guarded = token.text in ("return", "continue", "break") and self.is_guarded(i)
        if not guarded and (token.text in KEYWORDS or not self.is_call_or_assignment(i, end)):
            return
        if text.startswith(("KHEYA_ASSIGN", "KHEYA_CONCAT")):
            return
        self.add(token.begin, self.tokens[end].end, "", f"no '{' '.join(text.split())}'",
                 "statement")

    def is_call_or_assignment(self, i, end):
        """Not a declaration: names of one value, then an assignment or the end of a call."""
        at = i
        while at < end:
            text = self.tokens[at].text
            if text in ASSIGNMENTS:
                return True
            if text in ("(", "[", "<T"):
                at = self.tokens[at].match
            elif self.tokens[at].kind == "name":
                if at > i and self.tokens[at - 1].text not in (".", "->", "::"):
                    return False
            elif text not in (".", "->", "::"):
                return False
            at += 1
        return self.tokens[end - 1].text == ")"

    def change_statement(self, i, token, other):
        first = i
        while self.tokens[first - 1].text not in (";", "{", "}", "else", ")", "(", ","):
            first -= 1
            if self.tokens[first].text in CLOSING:
                first = self.tokens[first].match
        end = self.statement_end(i)
        if end is None or self.tokens[first - 1].text in ("(", ","):
            return
        self.add(self.tokens[first].begin, self.tokens[end].end,
                 self.replaced(first, end, i, other),
                 f"{token.text} to {other} in '{' '.join(self.text(first, end + 1).split())}'",
                 "statement")


def with_switches(source, mutants):
    """`source`, in which KheyaMutant(number) chooses each of the mutants."""
    return render(source, 0, len(source), sorted(mutants, key=lambda m: (m.begin, -m.end)))


def render(source, begin, end, mutants):
    text, at = [], begin
    while mutants:
        first = mutants[0]
        inner = [m for m in mutants[1:] if m.end <= first.end]
        mutants = mutants[1 + len(inner):]
        text.append(source[at:first.begin])
        text.append(switch(first, render(source, first.begin, first.end, inner)))
        at = first.end
    text.append(source[at:end])
    return "".join(text)


def switch(mutant, original):
    active = f"KheyaMutant({mutant.number})"
    if mutant.form == "statement":
        return f"{{ if ({active}) {{ {mutant.changed} }} else {{ {original} }} }}"
    if mutant.form == "condition":
        return f"({active} ? static_cast<bool>({mutant.changed}) : static_cast<bool>({original}))"
    return f"({active} ? ({mutant.changed}) : ({original}))"


def nests(mutant, others):
    """Whether `mutant` lies in, around or beside each of the others."""
    return all(mutant.end <= m.begin or m.end <= mutant.begin or
               (m.begin <= mutant.begin and mutant.end <= m.end) or
               (mutant.begin <= m.begin and m.end <= mutant.end) for m in others)
