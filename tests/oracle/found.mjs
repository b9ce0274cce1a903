// Collects Mermaid state diagrams from published packages.
//   node extract.mjs packages.tsv OUTDIR
//
// packages.tsv: registry (npm|crates) TAB name TAB version TAB integrity TAB count.
// Packages come through the ordinary clients (npm pack, cargo info), are checked against
// the listed integrity and kept in OUTDIR/tarballs, so a second run needs no network.
// Each distinct diagram goes to OUTDIR/NNN.mmd; OUTDIR/index.tsv has file, package, path.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';

const MAX_PACKED = 8 << 20, MAX_UNPACKED = 64 << 20, MAX_MS = 30_000;
const TEXT = /\.(md|mdx|markdown|txt|rs|[mc]?[jt]sx?|html?|mmd|mermaid)$/i;

function download(registry, name, version, target) {
  const tmp = fs.mkdtempSync(path.join(os.tmpdir(), 'extract-'));
  const run = (command, ...args) =>
    execFileSync(command, args, { cwd: tmp, timeout: MAX_MS, stdio: ['ignore', 'ignore', 'pipe'] });
  try {
    let files;
    if (registry === 'npm') {
      run('npm', 'pack', `${name}@${version}`, '--ignore-scripts', '--loglevel=error');
      files = fs.readdirSync(tmp).map((f) => path.join(tmp, f));
    } else {
      // cargo has no "pack"; showing a crate's information fetches the crate file.
      run('cargo', 'info', '--quiet', '--registry', 'crates-io', `${name}@${version}`);
      const home = process.env.CARGO_HOME ?? path.join(os.homedir(), '.cargo');
      const cache = path.join(home, 'registry', 'cache');
      files = fs.readdirSync(cache).map((d) => path.join(cache, d, `${name}-${version}.crate`));
    }
    const file = files.find((f) => fs.existsSync(f)) ?? '';
    if (fs.statSync(file).size > MAX_PACKED) throw new Error('larger than 8 MB');
    fs.copyFileSync(file, target);
  } finally {
    fs.rmSync(tmp, { recursive: true, force: true });
  }
}

// npm gives "sha512-BASE64" (old packages: "sha1-BASE64"), a crate has a hex sha256.
function matches(data, integrity) {
  const [algorithm, base64] = integrity.includes('-') ? integrity.split(/-(.*)/s) : ['sha256'];
  return createHash(algorithm).update(data).digest(base64 ? 'base64' : 'hex') === (base64 ?? integrity);
}

function* untar(data) {
  const tar = gunzipSync(data, { maxOutputLength: MAX_UNPACKED });
  const text = (from, to) => tar.toString('utf8', from, to).replace(/\0.*$/s, '');
  let longName = '';
  for (let at = 0; at + 512 <= tar.length && tar[at] !== 0;) {
    const size = parseInt(text(at + 124, at + 136).trim() || '0', 8);
    if (!(size >= 0 && at + 512 + size <= tar.length)) throw new Error('damaged tar file');
    const type = String.fromCharCode(tar[at + 156] || 48);
    const prefix = text(at + 257, at + 262) === 'ustar' ? text(at + 345, at + 500) : '';
    const body = tar.subarray(at + 512, at + 512 + size);
    if (type === 'x') longName = /^\d+ path=(.*)$/m.exec(body.toString('utf8'))?.[1] ?? '';
    else if (type === 'L') longName = text(at + 512, at + 512 + size);
    else if (type !== 'g') {
      if (type === '0') yield { name: longName || path.posix.join(prefix, text(at, at + 100)), body };
      longName = '';
    }
    at += 512 + Math.ceil(size / 512) * 512;
  }
}

// The first keyword, after front matter, directives, comments and blank lines.
function isState(block) {
  const rest = block.replace(/^\s*---[ \t]*\n[^]*?\n\s*---[ \t]*\n/, '')
    .replace(/^(\s*%%\{[^]*?\}%%|\s*%%(?!\{).*)+/, '');
  return /^\s*stateDiagram(-v2)?(?![\w-])/.test(rest);
}

// String literals that hold a diagram of three lines or more; templates with
// substitutions and Rust format strings are left out.
function literals(text, rust) {
  const found = [], escapes = { n: '\n', t: '\t', r: '' };
  if (rust) for (const m of text.matchAll(/\br(#*)"([^]*?)"\1/g)) found.push(m[2]);
  const quoted = /(?<![r#\w])(["'`])((?:\s|\\n|\\\n)*stateDiagram(?:\\[^]|(?!\1)[^\\])*)\1/g;
  for (const m of text.matchAll(quoted)) {
    if (rust ? m[1] !== '"' : m[1] === '`' && m[2].includes('${')) continue;
    found.push(m[2].replace(/\\\n\s*/g, '').replace(/\\([^])/g, (_, c) => escapes[c] ?? c));
  }
  return found.filter((b) => b.trim().split('\n').length > 2 && !(rust && b.includes('{{')));
}

// Fenced blocks, with or without "mermaid"; a long fence is searched inside as well.
function fences(text) {
  const found = [];
  let open = null, lines = [];
  for (const raw of text.split('\n')) {
    const line = open?.quote ? raw.replace(/^\s*> ?/, '') : raw;
    const m = /^(\s*>)?(\s*)(?:[-*] +|\d+\. +)?(`{3,}|~{3,})(.*)$/.exec(line);
    if (open && m && m[3].startsWith(open.mark) && !m[4].trim()) {
      found.push(lines.join('\n'));
      if (open.mark.length > 3) found.push(...fences(lines.join('\n')));
      open = null;
    } else if (m && (!open || !open.mermaid && open.mark.length < 4 && /^\s*\{?\.?mermaid/.test(m[4]))) {
      open = { mark: m[3], quote: m[1], indent: m[1] ? '' : m[2], mermaid: m[4].includes('mermaid') };
      lines = [];
    } else if (open) {
      lines.push(line.startsWith(open.indent) ? line.slice(open.indent.length) : line);
    }
  }
  return found;
}

function diagrams(name, source) {
  let text = source.replace(/\r\n?/g, '\n').replace(/^\uFEFF/, '');
  const found = /\.(mmd|mermaid)$/i.test(name) ? [text] : [];
  const html = /<(pre|div)\s[^>]*class=["'](?:[^"']*\s)?mermaid(?:\s[^"']*)?["'][^>]*>([^]*?)<\/\1>/g;
  const entities = { lt: '<', gt: '>', quot: '"', amp: '&' };
  for (const m of text.matchAll(html)) found.push(m[2].replace(/&(lt|gt|quot|amp);/g, (_, e) => entities[e]));
  if (/\.(rs|[mc]?[jt]sx?)$/i.test(name)) {
    found.push(...literals(text, name.endsWith('.rs')));
    text = text.replace(/^[ \t]*(\/\/[/!]|\*(?!\/)) ?/gm, '');
  }
  found.push(...fences(text));
  return found.map((b) => b.replace(/^(?:[ \t]*\n)+/, '').trimEnd()).filter(isState);
}

const [list, out] = process.argv.slice(2);
fs.mkdirSync(path.join(out, 'tarballs'), { recursive: true });
const seen = new Set(), index = [], counts = { npm: 0, crates: 0 };
for (const row of fs.readFileSync(list, 'utf8').split('\n').filter(Boolean)) {
  const [registry, name, version, integrity] = row.split('\t'), label = `${registry} ${name}@${version}`;
  const file = path.join(out, 'tarballs', `${registry}-${name.replace('/', '+')}-${version}.tgz`);
  try {
    if (!fs.existsSync(file)) download(registry, name, version, file);
    const data = fs.readFileSync(file);
    if (!matches(data, integrity)) throw new Error('the integrity does not match');
    counts[registry]++;
    for (const entry of untar(data)) {
      if (!TEXT.test(entry.name) || !entry.body.includes('stateDiagram')) continue;
      for (const block of diagrams(entry.name, entry.body.toString('utf8'))) {
        if (seen.has(block.trim())) continue;
        const target = `${String(seen.add(block.trim()).size).padStart(3, '0')}.mmd`;
        fs.writeFileSync(path.join(out, target), `${block}\n`);
        index.push(`${target}\t${label}\t${entry.name}\n`);
      }
    }
  } catch (error) {
    console.error(`${label}: ${String(error.stderr ?? '').trim() || error.message}`);
    process.exit(1);
  }
}
fs.writeFileSync(path.join(out, 'index.tsv'), index.join(''));
console.log(`${seen.size} distinct state diagrams from ${counts.npm} npm packages and ${counts.crates} crates`);
