#!/usr/bin/env python3
"""Checks the nine parts of the corpus: sizes, UTF-8, sums, no text twice, no package in two parts, and that the lists match the files.

Of the fresh parts no more than a fifth of the runs of eight words of a text stand in another text. Prints the counts.
"""
import collections, csv, hashlib, pathlib, re, sys

HERE = pathlib.Path(__file__).resolve().parent
# The parts in the order in which they were made, with their first ordinary and true text.
PARTS = (("", 1, 1), ("second", 600, 200), ("third", 900, 300), ("fourth", 1200, 400), ("fifth", None, 600), ("sixth", None, 800), ("seventh", 1500, 1000), ("eighth", 1800, None), ("ninth", 2100, None))
REGISTRIES = r"(?<![\w-])(crates\.io|npmjs\.(org|com)|pypi\.org|pypi\.python\.org|pythonhosted\.org)"
wrong = []
seen, packages = {}, collections.defaultdict(set)
# The texts that have a run of eight words. Comparing every pair of texts takes ten times as long.
holders = collections.defaultdict(list)
plain = lambda name: re.sub(r"[-_.]+", "-", name.lower())


def check(what, fine):
    if not fine:
        wrong.append(what)


def runs_of(text):
    words = re.findall(r"\w+", text.lower())
    return {" ".join(words[i : i + 8]) for i in range(len(words) - 7)}


def read(part, folder, table, first):
    rows = list(csv.DictReader(open(HERE / part / table, encoding="utf-8")))
    numbers = [row["number"] for row in rows]
    # The earlier parts lack texts of kinds that are no more.
    check(f"{part} {table}: numbers do not begin with {first} and go up", numbers[:1] == [f"{first:03}"] and numbers == sorted(set(numbers), key=int))
    check(f"{part} {folder}: files and {table} differ", {p.name for p in (HERE / part / folder).iterdir()} == {n + ".txt" for n in numbers})
    counts = collections.Counter()
    for row in rows:
        path = HERE / part / folder / f"{row['number']}.txt"
        name, data = path.relative_to(HERE), path.read_bytes()
        check(f"{name}: the sha256 differs", hashlib.sha256(data).hexdigest() == row["sha256"])
        check(f"{name}: the same as {seen.get(row['sha256'])}", row["sha256"] not in seen)
        seen[row["sha256"]] = name
        check(f"{name}: {len(data)} bytes", 0 < len(data) <= 6000)
        text = data.decode("utf-8")
        check(f"{name}: does not end at a line end", text.endswith("\n"))
        check(f"{name}: names a registry", not re.search(REGISTRIES, text))
        if row.get("package", "own") != "own":
            packages[part].add(plain(row["package"]))
        runs = runs_of(text)
        if part:
            shared = collections.Counter(other for run in runs if run in holders for other in holders[run])
            doubled = [str(other) for other, count in shared.items() if count > len(runs) / 5]
            check(f"{name}: much of it stands in {doubled}", not doubled)
        for run in runs:
            holders[run].append(name)
        counts[row["kind"].split("/")[0]] += 1
    print(f"{part or 'first'} {folder}: {len(rows)} ({', '.join(f'{kind} {count}' for kind, count in sorted(counts.items()))})")


for part, ordinary, true in PARTS:
    if ordinary:
        read(part, "ordinary", "manifest.csv", ordinary)
    if true:
        read(part, "true", "true.csv", true)
    before = set().union(*(packages[other] for other, _, _ in PARTS if other != part))
    check(f"{part}: packages of another part: {packages[part] & before}", not packages[part] & before)
print("\n".join(wrong) or "all is well")
sys.exit(bool(wrong))
