#!/usr/bin/env python3
"""Writes pool.csv from the archives in .cache and the crates on this machine. No package of the corpora before is taken."""
import csv, importlib.metadata, json, os, pathlib, re, tarfile, zipfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = pathlib.Path(os.environ.get("CORPUS", HERE.parent))
OLDS = [ROOT, ROOT / "second", ROOT / "third"]
plain = lambda name: re.sub(r"[-_.]+", "-", name.lower())
used = {plain(row["package"]) for corpus in OLDS for row in csv.DictReader(open(corpus / "manifest.csv", encoding="utf-8"))}
rows = {}


def take(client, name, version, form):
    if plain(name) not in used:
        rows[client, plain(name)] = (client, name, version, form)


for home in (pathlib.Path.home() / ".cargo", HERE / ".cache/cargo"):
    for root in sorted(home.glob("registry/src/*/*")):
        found = re.match(r"(.+?)-(\d+\.\d+\.\d+.*)$", root.name)
        if found and not found.group(1).startswith(("windows", "winapi", "libgit2")):
            take("cargo", found.group(1), found.group(2), "crate")
for path in sorted((HERE / ".cache/npm").glob("*.tgz")):
    with tarfile.open(path) as archive:
        member = next(m for m in archive if m.name.count("/") == 1 and m.name.endswith("/package.json"))
        about = json.loads(archive.extractfile(member).read())
    take("npm", about["name"], about["version"], "npm")
for path in sorted((HERE / ".cache/wheel").glob("*.whl")):
    archive = zipfile.ZipFile(path)
    inside = next(n for n in archive.namelist() if n.endswith(".dist-info/METADATA"))
    about = importlib.metadata.email.message_from_bytes(archive.read(inside))
    take("pip", about["Name"], about["Version"], "wheel")
for path in sorted((HERE / ".cache/sdist").glob("*.tar.gz")):
    with tarfile.open(path) as archive:
        member = next((m for m in archive if m.name.count("/") == 1 and m.name.endswith("/PKG-INFO")), None)
        if member is None:
            continue
        about = importlib.metadata.email.message_from_bytes(archive.extractfile(member).read())
    take("pip", about["Name"], about["Version"], "sdist")
with open(HERE / "pool.csv", "w", encoding="utf-8", newline="") as file:
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(["client", "package", "version", "form"])
    writer.writerows(sorted(rows.values()))
print(len(rows), "packages")
