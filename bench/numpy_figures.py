"""The same rows as bench/readme.cc, by numpy: JSON {rows: [{name, seconds}]} on standard output."""
import json
import pathlib
import sys
import time

import numpy as np


def median_seconds(call, budget=0.5):
    call()
    start = time.perf_counter()
    call()
    once = max(time.perf_counter() - start, 1e-9)
    batch = int(min(max(2e-4 / once, 1), 1000))
    samples = int(min(max(budget / (once * batch), 3), 1001))
    seconds = []
    for _ in range(samples):
        start = time.perf_counter()
        for _ in range(batch):
            call()
        seconds.append((time.perf_counter() - start) / batch)
    return sorted(seconds)[samples // 2]


def contract(inputs, output, operands, path):
    """Pairwise np.einsum along a linear path; labels of each step renumbered to fit numpy's 52."""
    inputs, operands = list(inputs), list(operands)
    for step, positions in enumerate(path):
        taken = sorted(positions, reverse=True)
        terms = [inputs.pop(p) for p in taken]
        tensors = [operands.pop(p) for p in taken]
        alive = set(output).union(*map(set, inputs)) if step + 1 < len(path) else set(output)
        kept = [l for l in dict.fromkeys(sum(terms, [])) if l in alive]
        if step + 1 == len(path):
            kept = list(output)
        number = {l: i for i, l in enumerate(dict.fromkeys(sum(terms, [])))}
        arguments = sum(([t, [number[l] for l in term]] for t, term in zip(tensors, terms)), [])
        operands.append(np.einsum(*arguments, [number[l] for l in kept], optimize=True))
        inputs.append(kept)
    return operands[0]


def main():
    rows = []
    rng = np.random.default_rng(1)
    for n in (2, 64):
        a, b, c = rng.random((n, n)) + 0.5, rng.random((n, n)) + 0.5, np.empty((n, n))
        size = f"{n}x{n}"
        rows.append({"name": f"a @ b {size}", "seconds": median_seconds(lambda: np.matmul(a, b, out=c))})
        rows.append({"name": f"np.einsum {size}",
                     "seconds": median_seconds(lambda: np.einsum("ij,jk->ik", a, b, out=c))})
    for file in sorted(pathlib.Path(sys.argv[1]).glob("*.json")) if len(sys.argv) > 1 else []:
        network = json.loads(file.read_text())
        extents = {int(l): e for l, e in network["extents"].items()}
        for name, stored in network["paths"].items():
            operands = [rng.random([extents[l] for l in t]) + 0.5 for t in network["inputs"]]
            operands = [t / np.sqrt(max(t.shape, default=1)) for t in operands]

            def call():
                contract(network["inputs"], network["output"], operands, stored["path"])

            start = time.perf_counter()
            call()
            first = time.perf_counter() - start
            seconds = first if first > 3 else median_seconds(call, 1.0)
            rows.append({"name": f"{network['name']} {name}", "seconds": seconds})
            print(f"numpy {network['name']} {name} {seconds * 1e3:.3f} ms", file=sys.stderr)
    print(json.dumps({"rows": rows}, indent=1))


main()
