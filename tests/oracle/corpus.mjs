// The corpus: files of diagrams. A line `=== name | accepts` (or `refuses`) opens a diagram and records Mermaid's verdict.
// In a diagram whose line ends in `| escaped`, \r, \t, \0 and \u{...} stand for the characters they name.
import fs from 'node:fs';
import path from 'node:path';

const unescape = (text) =>
  text.replace(/\\u\{([0-9a-f]+)\}/g, (_, hex) => String.fromCodePoint(parseInt(hex, 16)))
    .replaceAll('\\r', '\r').replaceAll('\\t', '\t');

export function read(folder) {
  const cases = [];
  for (const file of fs.readdirSync(folder).filter((name) => name.endsWith('.txt')).sort()) {
    const parts = fs.readFileSync(path.join(folder, file), 'utf8').split(/^=== (.*)\n/m).slice(1);
    for (let at = 0; at < parts.length; at += 2) {
      const [name, verdict, mode] = parts[at].split('|').map((word) => word.trim());
      const body = parts[at + 1].replace(/\n$/, '');
      cases.push({ file, name, verdict, mode, raw: parts[at + 1], source: mode === 'escaped' ? unescape(body) : body });
    }
  }
  return cases;
}

/** The diagrams of a folder, a file each. */
export function found(folder) {
  const names = fs.readdirSync(folder).filter((name) => name.endsWith('.mmd')).sort();
  return names.map((name) => ({ name, source: fs.readFileSync(path.join(folder, name), 'utf8') }));
}

/** Writes Mermaid's verdicts into the corpus. */
export function record(folder, cases) {
  for (const file of new Set(cases.map((one) => one.file))) {
    const text = cases.filter((one) => one.file === file)
      .map((one) => `=== ${[one.name, one.verdict, one.mode].filter(Boolean).join(' | ')}\n${one.raw}`).join('');
    fs.writeFileSync(path.join(folder, file), text);
  }
}
