#!/usr/bin/env python3
"""Checks the corpus: counts, sizes, UTF-8, no text twice, none of the corpora before (the parent folder and second), and that the lists match the files.

Prints the counts, and each text of which more than a fifth of the runs of eight words stand in another text.
"""
import collections, csv, hashlib, json, pathlib, re, sys

HERE = pathlib.Path(__file__).resolve().parent
OLDS = [HERE.parent, HERE.parent / "second"]
wrong = []
plain = lambda name: re.sub(r"[-_.]+", "-", name.lower())


def runs_of(text):
    words = re.findall(r"\w+", text.lower())
    return {tuple(words[i : i + 8]) for i in range(len(words) - 7)}


used = {plain(row["package"]) for corpus in OLDS for row in csv.DictReader(open(corpus / "manifest.csv", encoding="utf-8"))}
seen, others = {}, {}
for folder in ("ordinary", "true"):
    for path in sorted(path for corpus in OLDS for path in (corpus / folder).iterdir()):
        name = f"../{path.parent.parent.name}/{folder}/{path.name}"
        seen[hashlib.sha256(path.read_bytes()).hexdigest()] = name
        others[name] = runs_of(path.read_text(encoding="utf-8"))
total = 0


def check(what, fine):
    if not fine:
        wrong.append(what)


for folder, table, first in (("ordinary", "manifest.csv", 900), ("true", "true.csv", 300)):
    rows = list(csv.DictReader(open(HERE / table, encoding="utf-8")))
    numbers = [row["number"] for row in rows]
    check(f"{table}: numbers do not go on from {first}", numbers == [f"{n:03}" for n in range(first, first + len(rows))])
    check(f"{folder}: files and {table} differ", {p.name for p in (HERE / folder).iterdir()} == {n + ".txt" for n in numbers})
    counts = collections.Counter()
    for row in rows:
        name = f"{folder}/{row['number']}.txt"
        data = (HERE / name).read_bytes()
        total += len(data)
        check(f"{name}: the sha256 differs", hashlib.sha256(data).hexdigest() == row["sha256"])
        check(f"{name}: the same as {seen.get(row['sha256'])}", row["sha256"] not in seen)
        seen[row["sha256"]] = name
        check(f"{name}: {len(data)} bytes", 0 < len(data) <= 6000)
        check(f"{name}: does not end at a line end", data.endswith(b"\n"))
        check(f"{name}: half is {row['half']}", row["half"] == "third")
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
        counts[row["kind"].split("/")[0]] += 1
        if folder == "ordinary":
            check(f"{name}: {row['package']} is a package of a corpus before", row["package"] == "own" or plain(row["package"]) not in used)
        check(f"{name}: holds a path of this machine", not any(mark in text for mark in (*map(str, OLDS), str(HERE), str(pathlib.Path.home() / "."))))
        check(f"{name}: names a registry", not re.search(r"(?<![\w-])(crates\.io|npmjs\.(org|com)|pypi\.org|pypi\.python\.org|pythonhosted\.org)", text))
        runs = runs_of(text)
        for other, theirs in others.items():
            if len(runs & theirs) > len(runs) / 5:
                check(f"{name}: much of it stands in {other}", False)
        others[name] = runs
    print(f"{folder}: {len(rows)} texts")
    for kind, count in sorted(counts.items()):
        print(f"| {kind} | {count} |")
check(f"{total} bytes are more than 2 MB", total <= 2_000_000)
print(f"{total} bytes")
print("\n".join(wrong) or "all is well")
sys.exit(bool(wrong))
