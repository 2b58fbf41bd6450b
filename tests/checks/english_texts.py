# SPDX-License-Identifier: Apache-2.0
"""Reads the English sentences of a file: of comments, literals and Markdown. english.py checks them."""

import ast
import bisect
import io
import re
import tokenize
from dataclasses import dataclass

# Between these lines of a Markdown file are quotations, for example of sentences that are shown as bad.
QUOTES_BEGIN, QUOTES_END = "<!-- english.py: quotes begin -->", "<!-- english.py: quotes end -->"


# --- Texts -----------------------------------------------------------------------------------------------------------

@dataclass(frozen=True)
class Piece:
    """Words of a text, and the lines of the file from which the words come."""
    first: int
    last: int
    words: str


@dataclass(frozen=True)
class Sentence:
    kind: str  # comments, strings, prose
    first: int
    last: int
    text: str


MANY_WORDS = 5
# Marks that precede the first word.
LEADING_MARKS = re.compile(r"^[\s*_(]+(?=[A-Z])")
SENTENCE_END = re.compile(r"""[.:;!?]["')\]*_]*(\s+)(?=["'(\[*_]*[A-Z]|`)""")


def has_many_words(text):
    return len(re.findall("[A-Za-z]{2,}", text)) >= MANY_WORDS


def sentences_of(kind, pieces):
    """Joins the pieces by blanks, and splits the text into sentences."""
    text, starts = "", []
    for piece in pieces:
        text += " " if text else ""
        starts.append(len(text))
        text += piece.words
    begin = 0
    for end, following in [*(match.span(1) for match in SENTENCE_END.finditer(text)), (len(text),) * 2]:
        words = LEADING_MARKS.sub("", text[begin:end]).strip()
        if len(words) >= 4:
            first = pieces[bisect.bisect_right(starts, begin) - 1]
            last = pieces[bisect.bisect_left(starts, end) - 1]
            yield Sentence(kind, first.first, last.last, words)
        begin = following


def paragraphs(pieces):
    """Groups consecutive pieces; pieces without words separate the groups."""
    group = []
    for piece in pieces:
        if piece.words:
            group.append(piece)
        elif group:
            yield group
            group = []
    if group:
        yield group


def pieces_of_literal(text, first, last):
    """The lines of a literal as pieces. If the lines of the literal are not lines of the file (because of escapes or
    joined literals), each piece has the range of all lines."""
    lines = [" ".join(line.split()) for line in text.split("\n")]
    if len(lines) == last - first + 1:
        return [Piece(first + i, first + i, line) for i, line in enumerate(lines)]
    return [Piece(first, last, line) for line in lines]


def sentences_of_literal(pieces):
    for group in paragraphs(pieces):
        if has_many_words(" ".join(piece.words for piece in group)):
            yield from sentences_of("strings", group)


def is_program(text):
    """Whether a literal contains a program, in C++ or the like."""
    return "#include" in text or ";\n" in text


NO_SENTENCE = re.compile(r"clang-format|namespace\b|NOLINT")
HEADING = re.compile(r"[-=]{3,}\s*(.*?)\s*[-=]*")


class Comments:
    def __init__(self):
        self._pieces, self._column = [], None

    def add(self, line, column, code_before, words):
        """A comment continues the comment in the line before if no code precedes it and both begin in the same
        column."""
        follows = self._pieces and self._pieces[-1].last == line - 1 and column == self._column
        if not follows or code_before.strip():
            self._pieces.append(Piece(line, line, ""))
        words, self._column = words.strip(), column
        if heading := HEADING.fullmatch(words):
            self._pieces += [Piece(line, line, part) for part in ("", heading[1], "")]
        else:
            self._pieces.append(Piece(line, line, "" if NO_SENTENCE.match(words) else words))

    def sentences(self):
        for group in paragraphs(self._pieces):
            yield from sentences_of("comments", group)


# --- C++ -------------------------------------------------------------------------------------------------------------

# A number is a token because it may contain ' as a separator.
CPP_TOKEN = re.compile(r"""
      //(?P<line_comment>[^\n]*)
    | /\*(?P<block_comment>.*?)\*/
    | (?P<raw>(?:u8|[LUu])?R"(?P<mark>[^\s()\\]{0,16})\((?P<raw_text>.*?)\)(?P=mark)")
    | (?P<literal>(?:u8|[LUu])?"(?P<text>(?:\\.|[^"\\\n])*)")
    | '(?:\\.|[^'\\\n])+'
    | \b\d['.\w]*
    """, re.S | re.X)
ESCAPES = {"n": "\n", "t": " ", '"': '"', "'": "'"}


def read_cpp(source):
    newlines = [match.start() for match in re.finditer("\n", source)]

    def line_of(position):
        return bisect.bisect_left(newlines, position) + 1

    comments, literal, literal_end = Comments(), [], None
    for token in CPP_TOKEN.finditer(source):
        begin, end = token.span()
        line = line_of(begin)
        if token["line_comment"] is not None:
            line_begin = newlines[line - 2] + 1 if line > 1 else 0
            comments.add(line, begin - line_begin, source[line_begin:begin], token["line_comment"].lstrip("/!<"))
        elif token["block_comment"] is not None:
            for i, words in enumerate(token["block_comment"].split("\n")):
                comments.add(line + i, 0, "" if i else "code", words.strip(" \t*/!<"))
        elif (token["raw"] or token["literal"]) and not re.search(r"#\s*include\s*$", source[max(0, begin - 16):begin]):
            if literal_end is None or source[literal_end:begin].strip():
                yield from read_cpp_literal(literal)
                literal = []
            text = token["raw_text"] if token["raw"] else \
                re.sub(r"\\(.)", lambda escape: ESCAPES.get(escape[1], escape[0]), token["text"], flags=re.S)
            literal.append((text, line, line_of(end), bool(token["raw"])))
            literal_end = end
    yield from read_cpp_literal(literal)
    yield from comments.sentences()


def read_cpp_literal(literal):
    """Reads literals that the compiler joins. Each literal is (text, first line, last line, whether it is raw)."""
    if any(is_program(text) if raw else "#include" in text for text, _, _, raw in literal):
        return
    pieces, line_is_empty = [], True
    for text, first, last, raw in literal:
        for i, words in enumerate(text.split("\n")):
            if i > 0 and line_is_empty:
                pieces.append(Piece(first, last, ""))
            line_is_empty = (line_is_empty or i > 0) and not words.strip()
            if words.strip():
                line = first + i if raw else first
                pieces.append(Piece(line, line, " ".join(words.split())))
    yield from sentences_of_literal(pieces)


# --- Python ----------------------------------------------------------------------------------------------------------

def read_python(source):
    comments = Comments()
    try:
        tree = ast.parse(source)
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            if token.type == tokenize.COMMENT:
                line, column = token.start
                comments.add(line, column, token.line[:column], token.string.lstrip("#!"))
    except (SyntaxError, ValueError, tokenize.TokenError):
        yield from read_hash(source)
        return
    yield from comments.sentences()
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    todo, docstrings = [tree], set()
    while todo:
        node = todo.pop()
        if isinstance(node, documented) and node.body and isinstance(node.body[0], ast.Expr):
            docstrings.add(node.body[0].value)
        if isinstance(node, ast.JoinedStr):
            text = "".join(part.value if isinstance(part, ast.Constant) else "{}" for part in node.values)
            # Expressions in the braces can contain literals.
            todo += [part for part in node.values if not isinstance(part, ast.Constant)]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            text = node.value
        else:
            todo += ast.iter_child_nodes(node)
            continue
        pieces = pieces_of_literal(text, node.lineno, node.end_lineno)
        if node in docstrings:
            for group in paragraphs(pieces):
                yield from sentences_of("comments", group)
        elif not is_program(text):
            yield from sentences_of_literal(pieces)


# --- Shell, CMake, TOML, YAML ----------------------------------------------------------------------------------------

HASH_LITERAL = re.compile(r'"((?:\\.|[^"\\])*)"')
HEREDOC = re.compile(r"\bcat\b.*(?<!<)<<(?!<)-?\s*[\"']?(\w+)")


def read_hash(source):
    """Comments, literals of one line, and the texts that a shell prints by cat <<END."""
    comments, heredoc, heredoc_end = Comments(), [], None
    for number, line in enumerate(source.split("\n"), 1):
        if heredoc_end is not None:
            if line.strip() == heredoc_end:
                yield from sentences_of_literal(heredoc)
                heredoc, heredoc_end = [], None
            else:
                heredoc.append(Piece(number, number, " ".join(line.split())))
            continue
        code, hash_sign, words = line.partition("#")
        if not code.strip() and hash_sign:
            comments.add(number, len(code), "", words.lstrip("#! "))
            continue
        trailing = re.search(r"\s#\s+(.*)", HASH_LITERAL.sub(lambda text: "_" * len(text[0]), line))
        if trailing:
            column = trailing.start() + 1
            comments.add(number, column, line[:column], line[column:].lstrip("# "))
            line = line[:column]
        for literal in HASH_LITERAL.finditer(line):
            if "$(" not in literal[1] and "#include" not in literal[1]:
                yield from sentences_of_literal([Piece(number, number, literal[1])])
        if found := HEREDOC.search(line):
            heredoc_end = found[1]
    yield from comments.sentences()


# --- Markdown --------------------------------------------------------------------------------------------------------

LIST_ITEM = re.compile(r"\s*(?:[-*+]|\d+[.)])\s+")


def read_markdown(source):
    pieces, fence, quotes, in_list, blank_before = [], None, False, False, True
    for number, line in enumerate(source.split("\n"), 1):
        bare = line.strip()
        nothing = Piece(number, number, "")
        if bare in (QUOTES_BEGIN, QUOTES_END):
            quotes = bare == QUOTES_BEGIN
        if fence or quotes:
            pieces.append(nothing)
            if fence and bare.startswith(fence):
                fence = None
        elif bare.startswith(("```", "~~~")):
            fence = bare[:3]
            pieces.append(nothing)
        elif bare.startswith("#"):
            in_list = False
            pieces.append(nothing)
        elif not bare or bare.startswith("<"):
            pieces.append(nothing)
        elif bare.startswith("|"):
            in_list = False
            for cell in re.split(r"(?<!\\)\|", bare):
                if has_many_words(cell):
                    pieces += [nothing, Piece(number, number, cell.strip()), nothing]
        elif item := LIST_ITEM.match(line):
            in_list = True
            pieces += [nothing, Piece(number, number, line[item.end():].strip())]
        elif line.startswith("    ") and blank_before and not in_list:
            pieces.append(nothing)  # code
        else:
            in_list = in_list and (line[0] == " " or not blank_before)
            pieces.append(Piece(number, number, bare.lstrip("> ")))
        blank_before = not bare or blank_before and line.startswith("    ") and not in_list
    for group in paragraphs(pieces):
        yield from sentences_of("prose", group)


# --- Files -----------------------------------------------------------------------------------------------------------

READERS = {
    read_cpp: "c cc cpp cxx h hpp inl ipp pml".split(),
    read_hash: "cff cmake sbatch sh toml txt yaml yml".split(),
    read_markdown: ["md"],
    read_python: ["py"],
}
READER_OF = {suffix: reader for reader, suffixes in READERS.items() for suffix in suffixes}


def reader_of(name, source):
    """The reader for a file, or None."""
    suffixes = [suffix for suffix in name.rpartition("/")[2].split(".")[1:] if suffix != "in"]
    if not suffixes:
        return read_python if re.match("#!.*python", source) else read_hash
    return READER_OF.get(suffixes[-1])


def sentences_in(name, source):
    reader = reader_of(name, source)
    return reader(source) if reader else ()
