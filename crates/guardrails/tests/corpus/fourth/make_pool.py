#!/usr/bin/env python3
"""Writes pool.csv from the archives in the cache and the crates on this machine. No package of the corpora before is taken.

    python3 make_pool.py [--part seventh] [--cache D]

Packages of npm may also lie in npm/node_modules of the cache; of these 300 are taken by the seed of the part.
"""
import argparse, csv, importlib.metadata, json, pathlib, random, re, tarfile, zipfile

from draw import DRAWS, HERE, ROOT, plain

parser = argparse.ArgumentParser()
parser.add_argument("--part", choices=DRAWS, default="fourth")
parser.add_argument("--cache", default=str(HERE / ".cache"))
arguments = parser.parse_args()
cache = pathlib.Path(arguments.cache).resolve()
seed, olds, *_ = DRAWS[arguments.part]
used = {plain(row["package"]) for old in olds for row in csv.DictReader(open(ROOT / old / "manifest.csv", encoding="utf-8"))}
rows = {}


def take(client, name, version, form):
    if plain(name) not in used:
        rows[client, plain(name)] = (client, name, version, form)


for home in (pathlib.Path.home() / ".cargo", cache.parent / "cargo"):
    for root in sorted(home.glob("registry/src/*/*")):
        found = re.match(r"(.+?)-(\d+\.\d+\.\d+.*)$", root.name)
        if found and not found.group(1).startswith(("windows", "winapi", "libgit2")):
            take("cargo", found.group(1), found.group(2), "crate")
for path in sorted((cache / "npm").glob("*.tgz")):
    with tarfile.open(path) as archive:
        member = next(m for m in archive if m.name.count("/") == 1 and m.name.endswith("/package.json"))
        about = json.loads(archive.extractfile(member).read())
    take("npm", about["name"], about["version"], "npm")
laid = sorted(set((cache / "npm").glob("node_modules/*/package.json")) | set((cache / "npm").glob("node_modules/@*/*/package.json")))
abouts = [json.loads(path.read_bytes()) for path in laid]
abouts = [about for about in abouts if "version" in about and plain(about["name"]) not in used]
for about in random.Random(seed).sample(abouts, min(300, len(abouts))):
    take("npm", about["name"], about["version"], "npm")
for path in sorted((cache / "wheel").glob("*.whl")):
    archive = zipfile.ZipFile(path)
    inside = next(n for n in archive.namelist() if n.endswith(".dist-info/METADATA"))
    about = importlib.metadata.email.message_from_bytes(archive.read(inside))
    take("pip", about["Name"], about["Version"], "wheel")
for path in sorted((cache / "sdist").glob("*.tar.gz")):
    with tarfile.open(path) as archive:
        member = next((m for m in archive if m.name.count("/") == 1 and m.name.endswith("/PKG-INFO")), None)
        if member is None:
            continue
        about = importlib.metadata.email.message_from_bytes(archive.extractfile(member).read())
    take("pip", about["Name"], about["Version"], "sdist")
with open(ROOT / arguments.part / "pool.csv", "w", encoding="utf-8", newline="") as file:
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(["client", "package", "version", "form"])
    writer.writerows(sorted(rows.values()))
print(len(rows), "packages")
