"""Checks JSON lines from standard input against the contract in docs/reports.md, field by field, and prints them
again, one field a line where that helps FileCheck: `race.accesses[0].op = "write"`. Usage: contract.py [CHAIN...]"""
import json
import re
import sys

OPS = {"read", "write", "free"}
VERDICTS = {"real", "potential", "predicted", "confirmed", "suspect"}
LOCATIONS = {"global", "heap", "stack", "tls", "freed", "mapped", "variable", "unknown"}


def require(condition, what):
    if not condition:
        sys.exit(f"contract: line {line_number}: {what}: {line}")


def has(object_, fields):
    for name, kind in fields.items():
        require(name in object_, f"no field {name}")
        wrong_bool = isinstance(object_[name], bool) and kind is not bool
        require(isinstance(object_[name], kind) and not wrong_bool, f"{name} is not of type {kind}")


def check_frame(frame):
    require(isinstance(frame, dict), "a frame is an object")
    for name in ("location", "function", "file", "module"):
        require(isinstance(frame.get(name, ""), str), f"{name} is not a string")
    for name in ("line", "column"):
        require(isinstance(frame.get(name, 0), int), f"{name} is not a number")
    require(re.fullmatch("0x[0-9a-f]+", frame.get("offset", "0x0")), "offset is not hexadecimal")


def check_access(access):
    has(access, {"thread": dict, "op": str, "size": int, "atomic": bool, "locks": list, "stack": list})
    has(access["thread"], {"id": int, "name": str})
    require(access["op"] in OPS, "unknown op")
    require(all(isinstance(lock, str) for lock in access["locks"]), "a lock is not a string")
    require(access["stack"], "no stack")
    for frame in access["stack"]:
        check_frame(frame)


def check_hidden_by(hidden):
    has(hidden, {"lock": str, "release": dict, "acquire": dict})
    for step in (hidden["release"], hidden["acquire"]):
        has(step, {"thread": dict, "stack": list})
        has(step["thread"], {"id": int, "name": str})
    events = [hidden[step].get("event", 0) for step in ("release", "acquire")]
    require(events[0] < events[1] or events == [0, 0], "the acquire comes first")


def check_race(race, engines):
    has(race, {"id": str, "engine": str, "kind": str, "verdict": str, "count": int, "location": dict, "accesses": list})
    require(re.fullmatch("[0-9a-f]{16}", race["id"]), "id is no fingerprint")
    require(race["engine"] in engines, "engine was not asked for")
    require(race["verdict"] in VERDICTS, "unknown verdict")
    require(race["count"] >= 1, "no occurrence")
    require(race["location"].get("kind") in LOCATIONS, "unknown kind of location")
    require(len(race["accesses"]) == 2, "a race has two accesses")
    for access in race["accesses"]:
        check_access(access)
    first, second = race["accesses"]
    require(race["kind"] == first["op"] + "-" + second["op"], "kind is not the pair")
    require(race["kind"] != "read-read", "two reads do not race")
    require(not (first["atomic"] and second["atomic"]), "two atomics do not race")
    require(first["thread"]["id"] != second["thread"]["id"], "a thread does not race with itself")
    if "trials" in race:
        has(race["trials"], {"runs": int, "found": int, "more_runs": int})
        require(0 <= race["trials"]["found"] <= race["trials"]["runs"], "found more often than run")
        bounds = [race["trials"][name] for name in ("low", "rate", "high")]
        require(0 <= bounds[0] <= bounds[1] <= bounds[2] <= 1, "the rate is outside of its interval")
    if "hidden_by" in race:
        require(race["verdict"] == "potential", "only a potential race is hidden")
        check_hidden_by(race["hidden_by"])


def check_misuse(misuse, engines):
    has(misuse, {"id": str, "engine": str, "what": str, "count": int, "thread": dict, "stack": list})
    require(misuse["engine"] in engines, "engine was not asked for")
    for frame in misuse["stack"]:
        check_frame(frame)


def check_summary(summary):
    counts = ("events", "accesses", "dropped", "races", "dynamic_races", "threads")
    has(summary, {"engine": str, "seconds": (int, float), **{name: int for name in counts}})
    require(summary["dynamic_races"] >= summary["races"], "fewer occurrences than races")
    require(summary["events"] >= summary["accesses"], "fewer events than accesses")


def show(path, value):
    if isinstance(value, dict) and value:
        for name, field in value.items():
            show(f"{path}.{name}", field)
    elif isinstance(value, list) and value:
        for i, element in enumerate(value):
            show(f"{path}[{i}]", element)
    else:
        print(f"{path} = {json.dumps(value, ensure_ascii=False)}")


chains = sys.argv[1:] or ["fasttrack"]
engines = {chain.split(":")[-1].split(",")[0] for chain in chains}
races = {}
summaries = []
for line_number, line in enumerate(sys.stdin, 1):
    value = json.loads(line)
    require(value.get("type") in ("race", "misuse", "summary"), "neither race, misuse nor summary")
    if value["type"] == "race":
        require(not summaries, "a race after a summary")
        check_race(value, engines)
        chain = value.get("chain", chains[0])  # a program is run with one
        races[chain] = races.get(chain, 0) + 1
    elif value["type"] == "misuse":
        require(not summaries, "a misuse after a summary")
        check_misuse(value, engines)
    else:
        check_summary(value)
        summaries.append(value)
        require(value["races"] == races.get(value["engine"], 0), "summary counts other races")
    show(value["type"], value)
if [summary["engine"] for summary in summaries] != chains:
    sys.exit(f"contract: summaries of {[summary['engine'] for summary in summaries]}, expected {chains}")
