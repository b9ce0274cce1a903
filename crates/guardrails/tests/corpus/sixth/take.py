#!/usr/bin/env python3
"""Takes the texts of an author as this part: python3 take.py FOLDER.

The folder has manifest.csv, with kind and file of each text. The texts get numbers from 800 on, in an order drawn by a seed. A text of which more than a fifth
of the runs of eight words stand in a text of another part, or in one before it, is left out. Prints counts alone, so that nobody has read a text.
"""
import collections, csv, hashlib, pathlib, random, re, sys

HERE = pathlib.Path(__file__).resolve().parent
FIRST, MOST, SEED = 800, 6000, 20261126


def runs_of(text):
    words = re.findall(r"\w+", text.lower())
    return {tuple(words[i : i + 8]) for i in range(len(words) - 7)}


source = pathlib.Path(sys.argv[1])
rows = [(row["kind"], row["file"]) for row in csv.DictReader(open(source / "manifest.csv", encoding="utf-8"))]
random.Random(SEED).shuffle(rows)
rows.sort(key=lambda row: row[0])
others = [
    runs_of(path.read_text(encoding="utf-8"))
    for path in sorted(HERE.parent.rglob("*.txt"))
    if path.parent.name in ("true", "ordinary") and HERE not in path.parents
]
(HERE / "true").mkdir(exist_ok=True)
counts, left_out, lines = collections.Counter(), collections.Counter(), []
for kind, file in rows:
    text = (source / file).read_text(encoding="utf-8").replace("\r\n", "\n").rstrip("\n") + "\n"
    data, runs = text.encode("utf-8"), runs_of(text)
    if len(data) > MOST or not text.strip() or any(len(runs & theirs) > len(runs) / 5 for theirs in others if runs):
        left_out[kind] += 1
        continue
    others.append(runs)
    number = FIRST + len(lines)
    (HERE / "true" / f"{number}.txt").write_bytes(data)
    lines.append(f"{number},{kind},stranger,{hashlib.sha256(data).hexdigest()},sixth\n")
    counts[kind] += 1
(HERE / "true.csv").write_text("number,kind,hand,sha256,half\n" + "".join(lines), encoding="utf-8", newline="\n")
print(f"taken: {dict(counts)}; left out: {dict(left_out)}")
