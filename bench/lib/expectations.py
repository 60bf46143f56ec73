"""What a test of LLVM's ThreadSanitizer expects, read from its RUN and CHECK lines, and the judgement of an outcome.

A test is judged by its verdict (which kinds of reports there are), the source lines of the accesses where it names them,
what the program itself prints, and its exit code. Other differences (functions in the stacks, the memory's name) are notes.
"""
import re
from dataclasses import dataclass, field
from itertools import permutations

from reports import Access, Frame, Report, family, kinds

# --- RUN lines ---


@dataclass
class Step:
    """One command of a RUN line: `compile` (words), `run` (words) or `shell` (a command line)."""

    kind: str
    words: list = field(default_factory=list)
    cxx: bool = False
    line: str = ""
    negated: bool = False  # `not`
    deflake: bool = False  # up to ten runs until one does not exit with 0
    prefixes: tuple = ()  # of FileCheck; none: only the exit code counts


def steps(path, binary):
    """The steps of each RUN line."""
    joined = "\n".join(re.findall(r"^\s*// RUN:(.*)$", path.read_text(), re.MULTILINE)).replace("\\\n", " ")
    return [[_step(command.strip(), path, binary) for command in line.split("&&")] for line in joined.splitlines()]


def _step(command, path, binary):
    for name, value in {"%s": str(path), "%t": str(binary), "%os": "Linux", "%link_libcxx_tsan": "",
                        "%darwin_min_target_with_tls_support": ""}.items():
        command = re.sub(rf"{name}\b", value, command)
    if match := re.match(r"%clang(xx)?_tsan (.*)", command):
        return Step("compile", match[2].split(), cxx=bool(match[1]))
    if "%run" not in command:
        return Step("shell", line=command)
    before, after = command.split("%run", 1)
    program, _, check = after.partition("|")
    words = [word for word in program.split() if word != "2>&1"]
    return Step("run", words, negated="not " in before, deflake="%deflake" in before, prefixes=_prefixes(check))


def _prefixes(check):
    if "FileCheck" not in check:
        return ()
    found = re.findall(r"--check-prefix(?:es)?[= ](\S+)", check)
    return tuple(prefix for group in found for prefix in group.split(",")) or ("CHECK",)


# --- CHECK lines ---


@dataclass
class Expectation:
    reports: list = field(default_factory=list)  # Reports whose functions and locations are patterns
    forbidden: list = field(default_factory=list)  # families, or None for any report
    says: list = field(default_factory=list)  # patterns, in order
    never_says: list = field(default_factory=list)
    count: int = None  # of reports

    def __str__(self):
        return kinds(self.reports) or (f"{self.count} reports" if self.count else "none")


ACCESS = re.compile(r"(?:Previous )?(?:atomic )?(read|write)\b(?: of size (\d+))?", re.IGNORECASE)
FRAME = re.compile(r"#(?:\d+|\{\{.*?\}\}) (\S+)")
PLACE = re.compile(r"\b([\w-]+\.(?:c|cpp|h)):(?:(\d+)|\[\[@LINE([+-]\d+)?\]\])")
FUNCTION = re.compile(r"(?:\{\{\.\*\}\})?([A-Za-z_]\w*)\{\{\.\*\}\}$|([a-z_]\w*)$")
OTHER_BLOCK = re.compile(r"Location is |Thread T|Mutex |As if |SUMMARY|and:|And |\(mutexes")


def expectation(path, prefixes):
    reader = _Reader()
    for number, line in enumerate(path.read_text().splitlines(), 1):
        for prefix in prefixes:
            match = re.search(rf"(?://|#)\s*{prefix}(-NOT|-NEXT|-DAG|-SAME)?:\s*(.*?)\s*$", line)
            if match:
                reader.take(match[2], number, match[1] == "-NOT")
    return reader.expected


class _Reader:
    """Goes through the CHECK lines; after a report's header, what looks like a report belongs to it."""

    def __init__(self):
        self.expected, self.report, self.access = Expectation(), None, None

    def take(self, text, number, forbidden):
        if forbidden:
            self.take_forbidden(text)
        elif match := re.search(r"ThreadSanitizer: reported (\d+) warnings", text):
            self.expected.count = int(match[1])
        elif not text.startswith("SUMMARY") and (match := re.search(r"ThreadSanitizer: (.+)|^(data race)$", text)):
            self.report, self.access = Report(match[1] or match[2]), Access()
            self.report.accesses.append(self.access)
            self.expected.reports.append(self.report)
        elif not (self.report and self.take_in_report(text, number)):
            self.expected.says.append(text)

    def take_forbidden(self, text):
        expected = self.expected
        if match := re.search(r"ThreadSanitizer(?: WARNING)?:\s*(.+)", text):
            if not text.startswith("SUMMARY"):
                expected.forbidden.append(family(match[1]))
        elif text.startswith("WARNING") or text == "ThreadSanitizer":
            expected.forbidden.append(None)
        elif "unlock" in text:
            expected.forbidden.append(family(text))
        elif not text.startswith("SUMMARY"):
            expected.never_says.append(text)

    def take_in_report(self, text, number):
        if match := ACCESS.match(text):
            self.access = Access(match[1].lower(), int(match[2] or 0))
            if not self.report.accesses[-1].op and not self.report.accesses[-1].stack:
                self.report.accesses.pop()
            self.report.accesses.append(self.access)
        elif OTHER_BLOCK.match(text):
            self.access = None
            self.take_location(text)
        elif frame := FRAME.match(text) or FUNCTION.match(text):
            self.take_frame(next(filter(None, frame.groups())), text, number)
        else:
            return False
        return True

    def take_location(self, text):
        if match := re.match(r"Location is (global '([^']*)'|heap|stack|TLS)", text):
            self.report.location = f"global {match[2]}" if match[2] else match[1].lower()

    def take_frame(self, function, text, number):
        if self.access is None:
            return
        place = PLACE.search(text)
        line = int(place[2] or number + int(place[3] or 0)) if place else 0
        self.access.stack.append(Frame(function, place[1] if place else "", line))


# --- judgement ---


@dataclass
class Outcome:
    """What one run did."""

    exit_code: int
    output: str
    reports: list

    def __str__(self):
        if self.exit_code is None:
            return "timeout"
        if self.exit_code < 0:
            return f"signal {-self.exit_code}"
        return kinds(self.reports) or "none"


def judge(step, expected, outcome):
    """Why the outcome is wrong, or nothing; and notes on what is only different."""
    failures = [*_exit_failures(step, outcome)]
    notes = []
    if step.prefixes:
        failures += [*_report_failures(expected, outcome), *_output_failures(expected, outcome)]
        notes = [*_notes(expected, outcome)]
    return failures, notes


def _exit_failures(step, outcome):
    code = outcome.exit_code
    fails = step.deflake != step.negated if step.deflake else step.negated
    if code is None:
        yield "not done in time"
    elif code < 0:
        yield f"ended by signal {-code}{_last_line(outcome.output)}"
    elif fails and code == 0:
        yield "exit code 0"
    elif not fails and code != 0:
        yield f"exit code {code}{_last_line(outcome.output)}"


def _last_line(output):
    lines = output.strip().splitlines()
    return f": {lines[-1].strip()[:100]}" if lines else ""


def _report_failures(expected, outcome):
    left = list(outcome.reports)
    for wanted in expected.reports:
        fitting = [report for report in left if _fits(wanted, report)]
        best = next((report for report in fitting if _lines_fit(wanted, report)), None)
        if best:
            left.remove(best)
        elif fitting:
            yield f"other lines: {fitting[0]}, not {_places(wanted)}"
            left.remove(fitting[0])
        else:
            yield f"no {family(wanted.kind)}"
    for kind in dict.fromkeys(expected.forbidden):
        unwanted = next((report for report in left if kind in (None, family(report.kind))), None)
        if unwanted:
            yield f"unwanted: {unwanted}"
    if expected.count is not None and len(outcome.reports) != expected.count:
        yield f"{len(outcome.reports)} reports, not {expected.count}"


def _fits(wanted, report):
    want, got = family(wanted.kind), family(report.kind)
    return want == got or (want == "race" and got == "use after free")


def _lines_fit(wanted, report):
    """Each access with lines has a partner of its own, in either order, whose stack has these lines in order."""
    sides = [access for access in wanted.accesses if any(frame.line for frame in access.stack)]
    return any(all(map(_has_lines, partners, sides)) for partners in permutations(report.accesses, len(sides)))


def _has_lines(access, side):
    return _in_order([str(frame) for frame in side.stack if frame.line], [str(frame) for frame in access.stack])


def _in_order(wanted, got):
    rest = iter(got)
    return all(any(item == one for one in rest) for item in wanted)


def _places(wanted):
    return " / ".join(str(frame) for access in wanted.accesses for frame in access.stack[:1] if frame.line) or "those asked for"


def _output_failures(expected, outcome):
    at = 0
    for text in expected.says:
        found = pattern(text).search(outcome.output, at)
        if not found:
            yield f"does not print '{text}'"
            break
        at = found.end()
    for text in expected.never_says:
        if pattern(text).search(outcome.output):
            yield f"prints '{text}'"


def pattern(text):
    """FileCheck's pattern as a regular expression; variables match anything without a space."""
    def translate(part):
        if part.startswith("{{"):
            return f"(?:{part[2:-2]})"
        if part.startswith("[["):
            return f"(?:{part[2:-2].split(':', 1)[1]})" if ":" in part else r"\S+"
        return r"[ \t]+".join(map(re.escape, re.split(r"[ \t]+", part)))
    return re.compile("".join(map(translate, re.split(r"(\{\{.*?\}\}|\[\[.*?\]\])", text))))


def _notes(expected, outcome):
    for wanted in expected.reports:
        fitting = [report for report in outcome.reports if _fits(wanted, report)]
        if fitting and wanted.location and not any(report.location == wanted.location for report in fitting):
            yield f"location '{fitting[0].location}', not '{wanted.location}'"
        functions = {frame.function for report in fitting for access in report.accesses for frame in access.stack}
        for frame in (frame for access in wanted.accesses for frame in access.stack):
            if fitting and not any(pattern(frame.function).search(function) for function in functions):
                yield f"no {frame.function} in a stack"
