#!/usr/bin/env python3
"""Makes true/ and true.csv from true_a.src and true_b.src.

A source holds texts, each behind a line `===== kind | hand =====`. Within a text

    @@loop N ... @@end    gives the lines between them N times ({n} counts), behind what stands before it on its line
    @@noise KIND N        gives about N characters of noise, by the seed
"""
import base64, csv, hashlib, pathlib, random, re, shutil

SEED = 20261204
HERE = pathlib.Path(__file__).resolve().parent
PIECES = "ing ĠtheĠ <0x0A> ▁un ational }}, ]); ::<_> \\u00e2 NaN Ġ~~~ 0x7f ###### _REF @@ qz vß ,,, {%- -%} //= Ċ ▁▁ </td> ;;; %s%d xFF 一 Ø Ƶ lfk jwq ĉ ¿ ½ éé kt8".split()
WORDS = "gate urn vel plimsoll quay hex orb fjord nub zinc vow pyx lox jut awl kelp dirk yaw spry mulch quench thrum wisp gnash blitz crypt".split()

SALAD = "ратуша mirëdita Schraub klokken ölçü ngayon بيت 파도 šljiva ὕδωρ kahvaltı bwyd จาน ябълка übrig trzcina कमल lumière გზა quyền hæll mùa 雲 tortoise ժամ saudade tjugo שמש opposé fəsil đường вікно juokseva wrought 鳥が mandje".split()
CODE = "}}; lambda(&&self <T:: 0b1101 ^=~ NULLIF( %>% elif$ #ifdef @Override :=<- \\xc3 ?.map( !important yield* ${i++} SELECT<br/> malloc(sizeof [[nodiscard]] |> printf(%zu |= ~/.rc *ptr++ goto{ --no- ]]>)) `${ 0o777 fn<'a> @@ROWCOUNT ;;esac (car(cdr ⟨ψ| :root{".split()
RARE = "halyard obloquy perspex numinous gantry liturgical sebum otter parsec embargo lintel calyx fricative dowager turbine cassock bituminous ersatz pommel isthmus quotient mildew sonar vestry palindrome gurney tangerine feldspar jurist ocelot ratchet hyssop plinth cortisol yeoman abacus gossamer treble zither mortise spandrel inkwell cudgel bursar lanolin osprey drachma ferrous whelk cantilever".split()


def noise(kind, length, random_):
    pick = lambda letters: "".join(random_.choice(letters) for _ in range(length))
    if kind == "printable":
        return pick("".join(map(chr, range(33, 127))))
    if kind == "symbols":
        return pick("!@#$%^&*()_+-=[]{}|;:,.<>?/~`§±¬¦°•¶†‡◊∞≠≤≥")
    if kind == "base64":
        return base64.b64encode(random_.randbytes(length * 3 // 4)).decode()
    if kind == "hex":
        return random_.randbytes(length // 2).hex()
    if kind == "latin1":
        return pick("".join(map(chr, range(0xA1, 0x180))))
    if kind == "cjk":
        return pick("".join(map(chr, range(0x4E00, 0x9FA0))))
    if kind == "cyrillic":
        return " ".join("".join(random_.choice("абвгдежзийклмнопрстуфхцчшщъыьэюя") for _ in range(random_.randint(2, 11))) for _ in range(length // 7))
    if kind == "emoji":
        return pick("".join(map(chr, range(0x1F600, 0x1F640))) + "".join(map(chr, range(0x1F300, 0x1F340))))
    if kind == "mojibake":
        return "".join(chr(random_.choice([0x80 + random_.randrange(0x700), 0xFFFD, 0xE2, 0x20AC, 0x2122, random_.randrange(33, 127)])) for _ in range(length))
    if kind == "fragments":
        return "".join(random_.choice(WORDS)[: random_.randint(1, 5)].title() + random_.choice(["", "-", ";", "|", "0", "%", "_", "7Q", "~"]) for _ in range(length // 4))
    if kind == "tokens":
        return "".join(random_.choice(PIECES) for _ in range(length // 4))
    if kind == "salad":
        return " ".join(random_.choice(SALAD) for _ in range(length // 7))
    if kind == "codesoup":
        return "".join(random_.choice(CODE) + random_.choice([" ", "", "\n", "  "]) for _ in range(length // 5))
    if kind == "words":
        # Rare words without order, as a model gives them at a high temperature.
        return " ".join(random_.choice(RARE) + random_.choice(["", "", "", ",", ";", "."]) for _ in range(length // 9))
    raise ValueError(kind)


def spelled(text, random_):
    out, lines, index = "", text.split("\n"), 0
    while index < len(lines):
        line = lines[index]
        loop = re.search(r"@@loop (\d+)$", line)
        mess = re.match(r"@@noise (\w+) (\d+)$", line)
        if loop:
            end = lines.index("@@end", index)
            inside = "\n".join(lines[index + 1 : end])
            # A loop that begins at a line's beginning is of whole lines.
            whole_lines = not line[: loop.start()]
            out += line[: loop.start()]
            for n in range(int(loop.group(1))):
                out += inside.replace("{n}", str(n + 2)) + ("\n" if whole_lines else "")
            out += "" if whole_lines else "\n"
            index = end + 1
            continue
        if mess:
            # The noise follows the last sentence without a break.
            out = out.rstrip("\n") + " " + noise(mess.group(1), int(mess.group(2)), random_) + "\n"
        else:
            out += line.replace("{n}", "1") + "\n"
        index += 1
    return out.strip("\n") + "\n"


def main():
    random_ = random.Random(SEED)
    entries = []
    for source in ("true_a.src", "true_b.src"):
        parts = re.split(r"^===== (\w+) \| (\w+) =====\n", (HERE / source).read_text(encoding="utf-8"), flags=re.M)
        for i in range(1, len(parts), 3):
            entries.append({"kind": parts[i], "hand": parts[i + 1], "text": spelled(parts[i + 2].strip("\n"), random_)})
    for entry in entries:
    shutil.rmtree(HERE / "true", ignore_errors=True)
    (HERE / "true").mkdir()
    with open(HERE / "true.csv", "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["number", "kind", "hand", "sha256", "half"])
        for number, entry in enumerate(entries, 400):
            data = entry["text"].encode()
            (HERE / "true" / f"{number:03}.txt").write_bytes(data)
            writer.writerow([f"{number:03}", entry["kind"], entry["hand"], hashlib.sha256(data).hexdigest(), "tune" if number % 2 else "measure"])
    print(len(entries), "true texts")


if __name__ == "__main__":
    main()
