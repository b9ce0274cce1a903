// Shows that the comparison of traces bites: puts one fault after another into a copy of the checker, builds it and compares.
// Fails if a fault survives.
//
//   node tests/oracle/faults.mjs [NAME…]        after tests/oracle/run.sh, which installs Mermaid
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { execFileSync, spawnSync } from 'node:child_process';

const [STEP, DRAWN, COUNT, LABEL, FLAT] =
  ['src/trace/step.rs', 'src/trace/drawn.rs', 'src/trace/coverage.rs', 'src/diagram/label.rs', 'src/diagram/graph/flatten.rs'];
const FAULTS = [
  ['an event of another name takes a held edge', STEP, 'edge.held.is_none() && by_any.is_none()', 'by_any.is_none()'],
  ['an edge that any event takes is taken by none', STEP, 'if let Some(step) = by_any {', 'if let Some(step) = by_any.filter(|_| false) {'],
  ['the last of parallel edges is taken', STEP, 'edge.held.is_none() && by_any.is_none()', 'edge.held.is_none()'],
  ['a target is not looked at', STEP, 'if *rules.states[edge.to as usize].name == *event.to {', 'if true {'],
  ['a creation is in any state', STEP, '!rules.states[state as usize].initial', 'false'],
  ['any event creates', STEP, 'rules.names_creation && event.event', 'false && event.event'],
  ['the label of a start is not looked at', STEP, ' && !starts.iter().any(|label| is_start(label))', ''],
  ['each label is a name', LABEL, "(rest.is_empty() || rest.starts_with('/'))", 'true'],
  ['one guard alone is passed over', LABEL, "while rest.starts_with('[')", "if rest.starts_with('[')"],
  ['a name has no dots', LABEL, "'-' | '.' | ':'", "'-' | ':'"],
  ['a name ends at a slash', LABEL, "if rest.starts_with('/') {\n        return None;", "if false {\n        return None;"],
  ['a composite state without a start is no state', FLAT, '!self.is_leaf(id) && !starts()', 'false && !starts()'],
  ['it is not left by its label', FLAT, 'if self.is_plain(id) {\n                leaves.push(id);', 'if self.is_leaf(id) {\n                leaves.push(id);'],
  ['it is not left by its completion', FLAT, '} else if self.own.contains(&state) {', '} else if false {'],
  ['each state inside completes', FLAT, 'if found.len() + work.len() == before {', 'if true {'],
  ['a composite state with a start is a state too', FLAT, '!self.is_leaf(id) && !starts()', '!self.is_leaf(id)'],
  ['arrows behind a choice are forgotten', FLAT, 'if matches!(next.from, Endpoint::State(_)) {', 'if false {'],
  ['arrows of a start are counted', FLAT, 'if matches!(next.from, Endpoint::State(_)) {', 'if true {'],
  ['labels are joined the other way', FLAT, 'join(label.as_deref(), own.as_deref()), way.clone()', 'join(own.as_deref(), label.as_deref()), way.clone()'],
  ['only the first arrow of an edge is counted', COUNT, 'arrows.iter().for_each(|arrow| self.edges', 'arrows.iter().take(1).for_each(|arrow| self.edges'],
  ['a composite state is entered by each step in it', COUNT, 'if is_it || ', 'if true || is_it || '],
  ['a composite state is not entered by its own arrow', COUNT, 'arrows.any(|arrow| arrow.to == *name)', 'false'],
  ['a composite state that is a state is not entered', COUNT, 'if is_it || ', 'if '],
  ['arrows of one event are counted apart', DRAWN, 'event_name(label).unwrap_or(label));', 'label);'],
  ['edges of one event are kept apart', DRAWN, '(from, to, name.unwrap_or(label))', '(from, to, label)'],
  ['an arrow is counted for each of its edges', DRAWN, 'if !of_edge.contains(&place(*at)) {', 'if true {'],
];

const here = path.dirname(new URL(import.meta.url).pathname);
const root = path.join(here, '../..');
const scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'faults-'));
process.on('exit', () => fs.rmSync(scratch, { recursive: true, force: true }));
const copy = path.join(scratch, 'copy');
fs.mkdirSync(copy);
const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { cwd: root, encoding: 'utf8' }).split('\n').filter(Boolean);
for (const file of files.filter((file) => fs.existsSync(path.join(root, file)))) {
  fs.mkdirSync(path.dirname(path.join(copy, file)), { recursive: true });
  fs.copyFileSync(path.join(root, file), path.join(copy, file));
}
const target = path.join(scratch, 'target');
const env = { ...process.env, CARGO_TARGET_DIR: target, RUSTFLAGS: '-Awarnings', CARGO_PROFILE_DEV_DEBUG: '0', ORACLE_MODULES: process.env.ORACLE_MODULES ?? path.join(root, 'target/oracle') };
const program = path.join(target, 'debug/examples/trace_verdicts');
const compare = () => {
  const build = spawnSync('cargo', ['build', '--quiet', '--locked', '--features', 'trace', '--example', 'trace_verdicts'], { cwd: copy, env, encoding: 'utf8' });
  if (build.status !== 0) return `does not compile: ${build.stderr.split('\n').find((line) => line.startsWith('error'))}`;
  const run = spawnSync('node', [path.join(here, 'traces.mjs'), '--program', program, '--seed', '1', '--count', '300', '--show', '0'], { env, encoding: 'utf8' });
  return run.status === 0 ? 'SURVIVED' : /\d+ disagreements/.exec(run.stdout)?.[0] ?? `the checker failed: ${run.stderr.trim().split('\n').at(-1)}`;
};

const wanted = process.argv.slice(2);
let survived = compare() === 'SURVIVED' ? 0 : 1;
if (survived > 0) console.log('the checker as it is does not agree');
for (const [name, file, find, put] of FAULTS.filter(([name]) => wanted.length === 0 || wanted.includes(name))) {
  const source = fs.readFileSync(path.join(root, file), 'utf8');
  const at = source.indexOf(find);
  let verdict = 'does not apply';
  if (at >= 0) {
    fs.writeFileSync(path.join(copy, file), source.slice(0, at) + put + source.slice(at + find.length));
    verdict = compare();
    fs.writeFileSync(path.join(copy, file), source);
  }
  survived += /^\d|^the checker failed/.test(verdict) ? 0 : 1;
  console.log(`${name}\t${verdict}`);
}
console.log(`${survived} of the faults were not caught`);
process.exitCode = survived === 0 ? 0 : 1;
