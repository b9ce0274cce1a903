// Holds traces against diagrams with this crate's checker and with the one in judge.mjs, and lists every disagreement.
//
//   node traces.mjs --program PROGRAM [--seed N] [--count N] [--walks N] [--found FOLDER] [--show N] [--least-diagrams N] [--least-traces N] [--kept FILE]
//
// Fails where the two disagree, and where fewer diagrams or traces were compared than is asked for. Mermaid's reading of the
// diagrams is kept in FILE, for another comparison with the same seed.
import fs from 'node:fs';
import path from 'node:path';
import { spawnSync } from 'node:child_process';
import { view, version } from './mermaid-view.mjs';
import { diagram, nested, random } from './generate.mjs';
import { Unfit, judge, nameOf } from './judge.mjs';
import { found, read } from './corpus.mjs';

const args = process.argv.slice(2);
const option = (name, otherwise) => {
  const at = args.indexOf(`--${name}`);
  return at < 0 ? otherwise : args[at + 1];
};
const seed = Number(option('seed', '1'));
const rng = random(seed);
const folder = option('found', null);
const corpus = folder ? found(folder) : read(path.join(path.dirname(new URL(import.meta.url).pathname), 'corpus'));
const sources = corpus.map((one) => one.source);
for (let n = 0; n < Number(option('count', folder ? '0' : '1500')); n += 1) sources.push(n % 2 === 0 ? nested(rng) : diagram(rng));

const TRACES = Number(option('walks', folder ? '80' : '16'));
const EVENTS = ['go', 'x', 'teleport', 'create', 'done', ''];

/** A walk, mostly along what is drawn, with what the judge says of it. */
function walk(judged) {
  const { states, out, initial, name } = judged;
  const anywhere = rng.chance(0.05);
  let at = rng.pick(anywhere ? states : initial);
  const created = rng.chance(0.8) ? 'create' : rng.pick([...EVENTS, ...judged.startNames]);
  const events = [[created, null, name(at)]];
  const arrows = [];
  const entered = [];
  if (!judged.creates(created, at)) return { events, first: 0, arrows, entered };
  entered.push(at, ...judged.enters(null, at, []).filter((group) => group !== at));
  for (let steps = rng.below(10); steps > 0; steps -= 1) {
    if (rng.chance(0.02)) {
      // A state inside is named, or one that there is not.
      const stranger = judged.composites.length > 0 && rng.chance(0.5) ? name(rng.pick(judged.composites)) : 'no such state';
      events.push([rng.pick(EVENTS), name(at), stranger]);
      return { events, first: events.length - 1, arrows, entered };
    }
    const drawn = out.get(at);
    const along = drawn.length > 0 && rng.chance(0.97) ? rng.pick(drawn) : { to: rng.pick(states), by: rng.pick(EVENTS), held: null };
    const event = rng.chance(0.03) ? rng.pick(EVENTS) : along.held ?? (rng.chance(0.5) ? along.by : rng.pick(EVENTS));
    events.push([event, name(at), name(along.to)]);
    const taken = judged.takes(at, event, along.to);
    if (taken === null) return { events, first: events.length - 1, arrows, entered };
    arrows.push(...taken);
    entered.push(along.to, ...judged.enters(at, along.to, taken).filter((group) => group !== along.to));
    at = along.to;
  }
  return { events, first: null, arrows, entered };
}

// Mermaid's own names of points.
const isOfMermaid = /\broot(_start|_end)?\b/;
const kept = option('kept', null);
const views = new Map(kept && fs.existsSync(kept) ? JSON.parse(fs.readFileSync(kept, 'utf8')) : []);
const cases = [];
const left = { refused: 0, unfit: 0 };
for (const source of sources.filter((source) => !isOfMermaid.test(source))) {
  if (!views.has(source)) views.set(source, await view(source));
  const theirs = views.get(source);
  if (!theirs.ok) { left.refused += 1; continue; }
  let judged = null;
  try { judged = judge(theirs); } catch (error) { if (!(error instanceof Unfit)) throw error; }
  const walks = judged && judged.states.length > 0 && judged.named.size === judged.states.length ? Array.from({ length: TRACES }, () => walk(judged)) : [];
  cases.push({ source, judged, walks });
}
if (kept) fs.writeFileSync(kept, JSON.stringify([...views]));
const input = cases.map(({ source, walks }) => JSON.stringify({ source, traces: walks.map(({ events }) => events) })).join('\n');
const run = spawnSync(option('program'), { input, maxBuffer: 1 << 30, encoding: 'utf8' });
if (run.status !== 0) throw new Error(`the checker's program failed: ${run.stderr}`);
const ours = run.stdout.trimEnd().split('\n').map((line) => JSON.parse(line));

const disagreements = [];
const tally = { diagrams: 0, traces: 0, violations: 0, arrows: 0, taken: 0 };
for (const [place, { source, judged, walks }] of cases.entries()) {
  const mine = ours[place];
  if (mine.refused !== undefined) {
    left.unfit += 1;
    // What the judge can follow is refused for a reason of its own alone.
    if (judged !== null && !/leads back|inside of itself|needs a name|is the name of|too many/.test(mine.refused)) {
      disagreements.push({ source, what: `refused: ${mine.refused}` });
    }
    continue;
  }
  if (judged === null) { disagreements.push({ source, what: 'not refused' }); continue; }
  if (walks.length === 0) { left.unfit += 1; continue; }
  tally.diagrams += 1;
  const counts = new Map([...judged.arrows].map((arrow) => [arrow, 0]));
  const entries = new Map();
  for (const [at, { events, first, arrows, entered }] of walks.entries()) {
    tally.traces += 1;
    tally.violations += first === null ? 0 : 1;
    if (mine.first[at] !== first) disagreements.push({ source, what: `${JSON.stringify(events)}: ours ${mine.first[at]}, the judge ${first}` });
    if (first !== null) continue;
    arrows.forEach((arrow) => counts.set(arrow, counts.get(arrow) + 1));
    entered.forEach((state) => entries.set(judged.name(state), (entries.get(judged.name(state)) ?? 0) + 1));
  }
  const covered = new Map(mine.coverage.map(([from, event, to, taken]) => [JSON.stringify([from, nameOf(event) ?? event, to]), taken]));
  tally.arrows += counts.size;
  tally.taken += [...counts.values()].filter((count) => count > 0).length;
  const whole = (map) => JSON.stringify([...map].sort(([one], [other]) => (one < other ? -1 : 1)));
  if (covered.size !== mine.coverage.length || whole(covered) !== whole(counts)) disagreements.push({ source, what: `coverage\n  ours  ${whole(covered)}\n  judge ${whole(counts)}` });
  const seen = new Map(mine.entered.filter(([, count]) => count > 0));
  if (whole(seen) !== whole(entries)) disagreements.push({ source, what: `entered\n  ours  ${whole(seen)}\n  judge ${whole(entries)}` });
}
process.stdout.write(`mermaid ${version}, seed ${seed}: ${tally.diagrams} diagrams, ${tally.traces} traces, ${tally.violations} of them with a violation, `
  + `${tally.taken} of ${tally.arrows} arrows taken; ${left.refused} refused by Mermaid, ${left.unfit} not to be followed; ${disagreements.length} disagreements\n`);
for (const { source, what } of disagreements.slice(0, Number(option('show', '10')))) process.stdout.write(`== ${what}\n${source}\n`);
const least = { diagrams: Number(option('least-diagrams', '1')), traces: Number(option('least-traces', '1')) };
for (const what of ['diagrams', 'traces']) {
  if (tally[what] < least[what]) process.stdout.write(`expected at least ${least[what]} ${what}, got ${tally[what]}\n`);
}
process.exitCode = disagreements.length === 0 && tally.diagrams >= least.diagrams && tally.traces >= least.traces ? 0 : 1;
