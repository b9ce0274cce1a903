#!/usr/bin/env python3
"""Checks the corpus: counts, sizes, UTF-8, no text twice, and that the lists match the files. Prints the counts."""
import collections, csv, hashlib, json, pathlib, sys

HERE = pathlib.Path(__file__).resolve().parent
wrong = []
seen = {}
total = 0


def check(what, fine):
    if not fine:
        wrong.append(what)


for folder, table, longest in (("ordinary", "manifest.csv", 6000), ("true", "true.csv", 6000)):
    rows = list(csv.DictReader(open(HERE / table, encoding="utf-8")))
    numbers = [row["number"] for row in rows]
    check(f"{table}: numbers are not 001, 002, ...", numbers == [f"{n:03}" for n in range(1, len(rows) + 1)])
    check(f"{folder}: files and {table} differ", sorted(p.name for p in (HERE / folder).iterdir()) == [n + ".txt" for n in numbers])
    counts = collections.defaultdict(collections.Counter)
    for row in rows:
        name = f"{folder}/{row['number']}.txt"
        data = (HERE / name).read_bytes()
        total += len(data)
        check(f"{name}: the sha256 differs", hashlib.sha256(data).hexdigest() == row["sha256"])
        check(f"{name}: the same as {seen.get(row['sha256'])}", row["sha256"] not in seen)
        seen[row["sha256"]] = name
        check(f"{name}: {len(data)} bytes", 0 < len(data) <= longest)
        check(f"{name}: does not end at a line end", data.endswith(b"\n"))
        check(f"{name}: half is {row['half']}", row["half"] in ("tune", "measure"))
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError:
            check(f"{name}: is not UTF-8", False)
            continue
        if row["kind"] == "data/json":
            try:
                json.loads(text.removeprefix("\ufeff"))
            except ValueError:
                print(f"note: {name} is no plain JSON ({row['path']})")
        counts[row["kind"].split("/")[0]][row["half"]] += 1
    print(f"{folder}: {len(rows)} texts")
    for kind, halves in sorted(counts.items()):
        print(f"| {kind} | {halves['tune']} | {halves['measure']} | {sum(halves.values())} |")
check(f"{total} bytes are more than 2 MB", total <= 2_000_000)
print(f"{total} bytes")
print("\n".join(wrong) or "all is well")
sys.exit(bool(wrong))
