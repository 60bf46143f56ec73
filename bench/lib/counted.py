"""A profile as LLVM writes it as text: of each function its name, a hash of its branches, and how often each of them was taken."""
from dataclasses import dataclass

MARK = ":ir\n"  # counted in the compiler's own form of the code; entries follow


@dataclass
class Function:
    name: str  # of one that a file has for itself, the file comes before it
    rest: str

    @property
    def symbol(self):
        return self.name.split(";")[-1]

    @property
    def weight(self):
        return sum(map(int, self.rest.split("# Counter Values:\n")[1].split("#")[0].split()))


def functions(text):
    return [Function(*entry.strip().split("\n", 1)) for entry in text.split(MARK)[1].split("\n\n") if entry.strip()]
