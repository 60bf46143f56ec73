"""Traces in which the functions that synchronize are missing, as if they were in a library without instrumentation.

Of a trace in text: each call of a function that has synchronization of its own somewhere in the trace becomes a call without
instrumentation (`miss ... back`) that reaches what it touched; what the functions that it calls do stays, unless they are missing, too. Threads are
still seen to come and go.
"""
import re

LINE = re.compile(r"(?P<thread>[^|]*)\|(?P<op>\w+)(?:\((?P<operand>[^,)]*)(?:,(?P<size>\d+))?[^)]*\))?[^|]*\|(?P<site>.*)")
SYNCHRONIZES = {"acq", "rel", "racq", "rrel", "wait", "wake", "notify", "enter", "leave", "post", "take", "load", "store", "rmw"}
STAYS = {"fork", "join", "begin", "end", "miss", "back", "reach"}


class Call:
    def __init__(self, function, number):
        self.function, self.number, self.touched = function, number, {}


def without_synchronization(lines):
    """The lines of the incomplete trace, and the names of the functions that are missing."""
    events = [(line, LINE.fullmatch(line)) for line in lines]
    missing = _functions_that_synchronize(events)
    return list(_cut(events, missing)), missing


def _functions_that_synchronize(events):
    found, stacks = set(), {}
    for _, event in events:
        if event is None:
            continue
        stack = stacks.setdefault(event["thread"], [])
        if event["op"] == "call":
            stack.append(event["operand"])
        elif event["op"] == "ret" and stack:
            stack.pop()
        elif event["op"] in SYNCHRONIZES and stack:
            found.add(stack[-1])
    return found


def _cut(events, missing):
    """Twice through the trace: what a call reaches is known only at its end, and told at its beginning."""
    yield from _tell(events, missing, _reach(events, missing))


def _reach(events, missing):
    """What each call touched, by the number of its event."""
    reach, stacks = {}, {}
    for number, (_, event) in enumerate(events):
        if event is None:
            continue
        stack = stacks.setdefault(event["thread"], [])
        if event["op"] == "call":
            stack.append(Call(event["operand"], number))
        elif event["op"] == "ret" and stack:
            call = stack.pop()
            reach[call.number] = call.touched
        elif stack and stack[-1].function in missing and event["op"] not in STAYS and event["operand"]:
            stack[-1].touched[event["operand"]] = max(int(event["size"] or 1), stack[-1].touched.get(event["operand"], 0))
    for call in (call for stack in stacks.values() for call in stack):
        reach[call.number] = call.touched
    return reach


def _tell(events, missing, reach):
    stacks = {}
    for number, (line, event) in enumerate(events):
        if event is None:
            yield line
            continue
        thread, op = event["thread"], event["op"]
        stack = stacks.setdefault(thread, [])
        if op == "call":
            stack.append(event["operand"])
            if event["operand"] in missing:
                yield f"{thread}|miss({event['operand']})|{event['site']}"
                for address, size in reach.get(number, {}).items():
                    yield f"{thread}|reach({address},{size})|"
            else:
                yield line
        elif op == "ret" and stack:
            yield f"{thread}|back|{event['site']}" if stack.pop() in missing else line
        elif not (stack and stack[-1] in missing and op not in STAYS):
            yield line
