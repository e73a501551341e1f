"""Prints bench results side by side: table.py EINJIT.json [NUMPY.json]."""
import json
import sys


def shown(seconds):
    if seconds is None:
        return "–"
    for unit, size in (("s", 1), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e9:.0f} ns"


ours = json.load(open(sys.argv[1]))
theirs = {r["name"]: r["seconds"] for r in json.load(open(sys.argv[2]))["rows"]} if len(sys.argv) > 2 else {}
print(ours["machine"])
print(f"| {'what':58} | {'einjit':>9} | {'numpy':>9} | prepare |")
print("|---|---|---|---|")
for row in ours["rows"]:
    name = row["name"]
    peer = theirs.get(name)
    for n in ("2x2", "64x64"):
        if name.endswith(n) and "first" not in name:
            peer = theirs.get(f"np.einsum {n}" if "string" in name else f"a @ b {n}")
    print(f"| {name:58} | {shown(row['seconds']):>9} | {shown(peer):>9} | {shown(row.get('prepare_seconds'))} |")
