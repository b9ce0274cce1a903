// Runs Mermaid and this crate's parser over the same diagrams and lists every disagreement.
//
//   node compare.mjs --dump PROGRAM [--seed N] [--count N] [--summary FILE] [--record] [--found FOLDER] [--show N]
import fs from 'node:fs';
import path from 'node:path';
import { spawnSync } from 'node:child_process';
import { view, version } from './mermaid-view.mjs';
import { damage, diagram, random } from './generate.mjs';
import { allowed } from './allowed.mjs';
import { found, read, record } from './corpus.mjs';

const args = process.argv.slice(2);
const option = (name, otherwise) => {
  const at = args.indexOf(`--${name}`);
  return at < 0 ? otherwise : args[at + 1];
};
const seed = Number(option('seed', '1'));
const folder = option('found', null);
const count = Number(option('count', folder ? '0' : '5000'));
const show = Number(option('show', '20'));
const here = path.dirname(new URL(import.meta.url).pathname);

const cases = folder ? found(folder) : read(path.join(here, 'corpus'));
const written = cases.length;
const rng = random(seed);
for (let n = 0; n < count; n += 1) {
  let source = n % 5 === 4 ? rng.pick(cases.slice(0, written)).source : diagram(rng);
  if (n % 5 > 1) source = damage(source, rng);
  cases.push({ name: `seed ${seed}, number ${n}`, source });
}

const input = cases.map((one) => one.source + '\0').join('');
const dump = spawnSync(option('dump'), { input, maxBuffer: 1 << 30, encoding: 'utf8' });
if (dump.status !== 0) throw new Error(`the parser's program failed: ${dump.stderr}`);
const ours = dump.stdout.trimEnd().split('\n').map((line) => JSON.parse(line));
if (ours.length !== cases.length) throw new Error(`${cases.length} diagrams, ${ours.length} answers`);

const FIELDS = [
  'edges', 'states', 'descriptions', 'notes', 'directions', 'classDefs', 'classes', 'styles', 'clicks', 'accTitle', 'accDescr',
];
// Two lists that Mermaid keeps as maps have no order of their own.
const unordered = new Set(['states', 'descriptions', 'directions', 'notes']);
const canonical = (field, value) => {
  let list = JSON.parse(JSON.stringify(value).replace(/\\u2028|\\u2029/g, ' '));
  if (Array.isArray(list)) list = list.map((entry) => JSON.stringify(entry).replace(/\s+/g, ' ').replace(/ "/g, '"'));
  else list = list.replace(/\s+/g, ' ').trim();
  if (unordered.has(field)) list.sort();
  return JSON.stringify(list);
};

const disagreements = [];
const tally = { accepted: 0, refused: 0, edges: 0, states: 0, allowed: new Map() };
for (const [at, one] of cases.entries()) {
  const theirs = await view(one.source);
  one.verdict = theirs.ok ? 'accepts' : 'refuses';
  const mine = ours[at];
  const differ = [];
  if (theirs.ok !== mine.ok) differ.push('acceptance');
  else if (theirs.ok) {
    tally.accepted += 1;
    tally.edges += theirs.edges.length;
    tally.states += theirs.states.length;
    for (const field of FIELDS) {
      // Mermaid cleans the HTML of these two; there is no raw text to compare with.
      if (field.startsWith('acc') && /[<&]/.test(mine[field])) continue;
      if (canonical(field, theirs[field]) !== canonical(field, mine[field])) differ.push(field);
    }
  } else tally.refused += 1;
  if (differ.length === 0) continue;
  const reason = allowed(one.source, differ, theirs, mine);
  if (reason) tally.allowed.set(reason, (tally.allowed.get(reason) ?? 0) + 1);
  else disagreements.push({ ...one, differ, theirs, mine });
}

if (args.includes('--record')) record(path.join(here, 'corpus'), cases.slice(0, written));

for (const { name, source, differ, theirs, mine } of disagreements.slice(0, show)) {
  process.stdout.write(`== ${name}: ${differ.join(', ')}\n${JSON.stringify(source)}\n`);
  for (const field of differ) {
    const part = (side) => (field === 'acceptance' ? (side.error ?? 'accepted') : JSON.stringify(side[field]));
    process.stdout.write(`  mermaid: ${part(theirs)}\n  ours:    ${part(mine)}\n`);
  }
}
const report = [
  `mermaid ${version}, seed ${seed}`,
  `${cases.length} diagrams: ${written} of the corpus, ${count} generated`,
  `${tally.accepted} accepted by both (${tally.states} states, ${tally.edges} transitions), ${tally.refused} refused by both`,
  `${[...tally.allowed.values()].reduce((sum, n) => sum + n, 0)} on the list of known differences`,
  ...[...tally.allowed].map(([reason, n]) => `    ${n}: ${reason}`),
  `${disagreements.length} disagreements`,
];
process.stdout.write(report.join('\n') + '\n');
const file = option('summary');
if (file) fs.writeFileSync(file, report.join('\n') + '\n');
process.exitCode = disagreements.length === 0 ? 0 : 1;
