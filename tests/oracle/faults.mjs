// Shows that the comparison of traces bites, and the tests of what it does not see: puts one fault after another into a copy of the checker,
// builds it, and compares or tests. Fails if a fault survives.
//
//   tests/oracle/run.sh faults [--every N] [FAULT…]
//
// With --every N each Nth fault of those that the comparison finds is tried, and none that needs the tests.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { execFileSync, spawnSync } from 'node:child_process';

const [STEP, RULES, DRAWN, COUNT, LABEL, FLAT] =
  ['src/trace/step.rs', 'src/trace/rules.rs', 'src/trace/drawn.rs', 'src/trace/coverage.rs', 'src/diagram/label.rs', 'src/diagram/graph/flatten.rs'];
const [CHECKER, JUNIT, LOG] = ['src/trace/checker.rs', 'src/trace/junit.rs', 'crates/governed/src/check_log.rs'];
const [EXIT, CHECK] = ['crates/cli/src/command/outcome.rs', 'crates/cli/src/command/check.rs'];
const FAULTS = [
  ['an event of another name takes a held edge', STEP, 'edge.held.is_none() && by_any.is_none()', 'by_any.is_none()'],
  ['an edge that any event takes is taken by none', STEP, 'if let Some(step) = by_any {', 'if let Some(step) = by_any.filter(|_| false) {'],
  ['the last of parallel edges is taken', STEP, 'edge.held.is_none() && by_any.is_none()', 'edge.held.is_none()'],
  ['a target is not looked at', STEP, 'if *rules.states[edge.to as usize].name == *event.to {', 'if true {'],
  ['a creation is in any state', STEP, '!rules.states[state as usize].initial', 'false'],
  ['any event creates', STEP, 'let is_legal = event.event == CREATE', 'let is_legal = true || event.event == CREATE'],
  ['the label of a start is not looked at', STEP, '!rules.is_held(it) || it.held.as_deref() == Some(&event.event)', '!rules.is_held(it)'],
  ['a remark at a start lets no event create', STEP, '!rules.is_held(it) || it.held', 'it.held'],
  ['a start without a label takes any event', RULES, 'start.event.is_empty() && self.names_creation', 'false'],
  ['one remark lets any event create', DRAWN, 'labels.flatten().any(', 'labels.flatten().all('],
  ['an odd bracket hides a name', FLAT, 'second.chars().try_fold(0, depth) == Some(0)', 'second.chars().try_fold(0, depth) != Some(9)'],
  ['each label is a name', LABEL, "(rest.is_empty() || rest.starts_with('/'))", 'true'],
  ['one guard alone is passed over', LABEL, "while rest.starts_with('[')", "if rest.starts_with('[')"],
  ['a name has no dots', LABEL, "'-' | '.' | ':'", "'-' | ':'"],
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
// What no trace of one instance shows: the tests find these, those of the library or those of the command.
const LIBRARY = ['-p', 'runstate', '-p', 'runstate-governed', '--test', 'lib', '--', 'trace::', 'jsonl::', 'checked_logs::'];
const COMMAND = ['-p', 'runstate-cli', '--test', 'lib', '--', 'held::', 'nothing::', 'schemas::', 'check::'];
const TESTED = [
  ['a name ends at a slash', LABEL, "if rest.starts_with('/') {\n        return None;", "if false {\n        return None;"],
  ['instances of two lifecycles are one', CHECKER, '            && *self.lifecycles[of] == *lifecycle\n', ''],
  ['instances of two runs are one', CHECKER, '            && last == run\n', ''],
  ['a number may come twice', CHECKER, 'event.seq <= seq', 'event.seq < seq'],
  ['a number is not kept', CHECKER, '        self.runs[run].seq = event.seq;\n', ''],
  ['time that stands still runs backwards', CHECKER, 'event.at_ms < at_ms', 'event.at_ms <= at_ms'],
  ['a time is not kept', CHECKER, '        self.runs[run].at_ms = event.at_ms;\n', ''],
  ['each violation of an instance is listed', CHECKER, 'before.is_none_or(|instance| !instance.is_wrong)', 'true'],
  ['one violation more is listed', CHECKER, 'self.others.len() + 1 >= self.most', 'self.others.len() >= self.most'],
  ['an instance is always finished', CHECKER, 'if rules.may_stop(state) {', 'if true {'],
  ['a second life is no instance', CHECKER, 'if event.is_creation() && outcome.is_ok() {', 'if false {'],
  ['garbage is the end of the trace', CHECKER, '        self.whole = false;\n', ''],
  ['JUnit has no error', JUNIT, 'let error = cut.map(ToString::to_string);', 'let error = cut.map(ToString::to_string).filter(|_| false);'],
  ['JUnit lets an incomplete trace pass', JUNIT, '.or_else(|| self.incomplete(report, covered))', ''],
  ['JUnit lets what is not listed pass', JUNIT, 'return (all > 0).then(', 'return (all > 9).then('],
  ['a state that there is not is forgotten', LOG, 'if names_unknown {', 'if false {'],
  ['each step of a log is legal', LOG, 'Some(before) => wrong.extend(step(before, to).err()),', 'Some(_) => {}'],
  ['a log may run backwards', LOG, '        && at < before\n', '        && at < before && false\n'],
].map((fault) => [...fault, LIBRARY]).concat([
  ['nothing checked is good', EXIT, '            || self.refused_as_empty().next().is_some()\n', ''],
  ['a line that is no event is a violation', EXIT, '            || self.reports().any(|report| !report.consumed_whole)\n', ''],
  ['a log that cannot be read is a violation', EXIT, '            || !self.logs.iter().all(CheckedLog::is_readable)\n', ''],
  ['an incomplete trace is always good', EXIT, 'Some(Verdict::Incomplete) => self.complete,', 'Some(Verdict::Incomplete) => false,'],
  ['time that runs backwards is good', EXIT, '            || self.backwards().next().is_some()\n', ''],
  ['a diagram needs no event', CHECK, 'let mut empty = diagrams_without_events(&traces, &coverage, &laws);', 'let mut empty: Vec<String> = Vec::new();'],
].map((fault) => [...fault, COMMAND]));

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
const kept = path.join(scratch, 'views.json');
const compare = () => {
  const build = spawnSync('cargo', ['build', '--quiet', '--locked', '--features', 'trace', '--example', 'trace_verdicts'], { cwd: copy, env, encoding: 'utf8' });
  if (build.status !== 0) return `does not compile: ${build.stderr.split('\n').find((line) => line.startsWith('error'))}`;
  const args = ['--program', program, '--seed', '1', '--count', '500', '--show', '0', '--kept', kept];
  const run = spawnSync('node', [path.join(here, 'traces.mjs'), ...args], { env, encoding: 'utf8' });
  return run.status === 0 ? 'SURVIVED' : /\d+ disagreements/.exec(run.stdout)?.[0] ?? `the checker failed: ${run.stderr.trim().split('\n').at(-1)}`;
};
const test = (what) => {
  const tests = (...more) => spawnSync('cargo', ['test', '--quiet', '--locked', ...more], { cwd: copy, env: { ...env, CI: 'true', INSTA_UPDATE: 'no', RUST_BACKTRACE: '0' }, encoding: 'utf8' });
  const run = tests(...what);
  if (run.status === 0) return 'SURVIVED';
  return /\d+ failed/.exec(run.stdout)?.[0] ?? `does not compile: ${run.stderr.split('\n').find((line) => line.startsWith('error'))}`;
};

const wanted = process.argv.slice(2);
const every = wanted[0] === '--every' ? Number(wanted.splice(0, 2)[1]) : null;
const all = every ? FAULTS.filter((fault, at) => at % every === 0) : [...FAULTS, ...TESTED];
const tried = all.filter(([name]) => wanted.length === 0 || wanted.includes(name));
let survived = 0;
const seen = new Set();
for (const [name, file, find, put, what] of tried) {
  if (!seen.has(what)) {
    seen.add(what);
    // What does not agree as it is catches nothing.
    const verdict = what ? test(what) : compare();
    if (verdict !== 'SURVIVED') { console.log(`the checker as it is\t${verdict}`); survived += 1; }
  }
  const source = fs.readFileSync(path.join(root, file), 'utf8');
  const parts = source.split(find);
  let verdict = `does not apply: ${parts.length - 1} places`;
  if (parts.length === 2) {
    fs.writeFileSync(path.join(copy, file), parts.join(put));
    verdict = what ? test(what) : compare();
    fs.writeFileSync(path.join(copy, file), source);
  }
  survived += /^\d|^the checker failed/.test(verdict) ? 0 : 1;
  console.log(`${name}\t${verdict}`);
}
console.log(`${tried.length} faults, of which ${survived} were not caught`);
process.exitCode = survived === 0 && tried.length > 0 ? 0 : 1;
