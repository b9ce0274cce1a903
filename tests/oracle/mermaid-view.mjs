// What Mermaid makes of a diagram, in the same shape as examples/mermaid_dump.rs prints it.
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import path from 'node:path';

// The packages live in a folder of their own, named by ORACLE_MODULES.
const home = process.env.ORACLE_MODULES ?? path.dirname(new URL(import.meta.url).pathname);
const require = createRequire(path.join(home, 'package.json'));
const { JSDOM } = require('jsdom');
const { window } = new JSDOM('<!doctype html><body></body>');
globalThis.window = window;
globalThis.document = window.document;

const root = path.join(home, 'node_modules', 'mermaid');
const mermaid = (await import(pathToFileURL(path.join(root, 'dist', 'mermaid.core.mjs')))).default;
export const version = require('mermaid/package.json').version;

mermaid.initialize({ startOnLoad: false, logLevel: 'fatal' });
for (const level of ['log', 'info', 'warn', 'error', 'debug']) console[level] = () => {};

// Mermaid hides entities behind marks before it parses.
const shown = (text) => text.replace(/ﬂ°°?/g, '#').replace(/¶ß/g, ';');
const plain = (text) => (text ?? '').trim();

// Mermaid cleans the HTML of a note in place; the raw text is taken just before.
let patched = false;
function keepRawNotes(diagram) {
  if (patched || !diagram.type.startsWith('state')) return false;
  const kind = Object.getPrototypeOf(diagram.db);
  const setRootDoc = kind.setRootDoc;
  kind.setRootDoc = function (statements) {
    const work = [...statements];
    while (work.length > 0) {
      const item = work.pop();
      if (item?.note) item.note.raw = item.note.text;
      work.push(...(item?.doc ?? []));
    }
    setRootDoc.call(this, statements);
  };
  patched = true;
  return true;
}

export async function view(source) {
  let diagram;
  try {
    await mermaid.parse(source);
    diagram = await mermaid.mermaidAPI.getDiagramFromText(source);
    if (keepRawNotes(diagram)) diagram = await mermaid.mermaidAPI.getDiagramFromText(source);
  } catch (error) {
    return { ok: false, error: String(error.message ?? error) };
  }
  if (!diagram.type.startsWith('state')) return { ok: false, error: `a ${diagram.type} diagram` };
  const db = diagram.db;
  const out = { ok: true, meant: [], divided: [], edges: [], states: [], descriptions: [], notes: [], directions: [] };
  Object.assign(out, { classDefs: [], classes: [], styles: [], clicks: [] });
  const descriptions = new Map();
  const regions = new Map(); // the id of a divided region -> its name
  const counts = new Map();

  const points = new Set(['root_start', 'root_end']); // the ids that stand for `[*]`
  const node = (item) => {
    if (item.start !== undefined) points.add(item.id);
    const named = item.start === undefined && item.id !== '';
    if (named && item.description && item.description.length > 0) {
      const list = [item.description].flat().map(plain).filter((text) => text !== '');
      if (list.length > 0) descriptions.set(item.id, [...(descriptions.get(item.id) ?? []), ...list]);
    }
    if (item.note) out.notes.push([item.id, item.note.position.slice(0, -3).toLowerCase(), item.note.raw]);
  };
  const kinds = { choice: 'choice', fork: 'fork', join: 'join' };
  const directions = new Map();
  // Statements in source order, without recursion.
  const work = [...db.rootDoc].reverse().map((item) => [item, 'root']);
  while (work.length > 0) {
    const [item, scope] = work.pop();
    if (typeof item !== 'object' || item === null) continue;
    switch (item.stmt) {
      case 'relation':
        node(item.state1);
        node(item.state2);
        out.edges.push([item.state1.id, item.state2.id, item.description ?? '']);
        break;
      case 'state': {
        node(item);
        // Mermaid forgets it where the state was named before; it is meant all the same.
        if (kinds[item.type]) out.meant.push([item.id, item.type]);
        const inner = regions.get(item.id) ?? item.id;
        for (const child of item.doc ?? []) {
          if (child?.type !== 'divider' || !child.doc) continue;
          const nth = (counts.get(item.id) ?? 0) + 1;
          counts.set(item.id, nth);
          regions.set(child.id, `${item.id}#${nth}`);
        }
        for (const child of [...(item.doc ?? [])].reverse()) work.push([child, inner]);
        break;
      }
      case 'dir':
        directions.set(scope, item.value);
        break;
      case 'classDef':
        out.classDefs.push([item.id, item.classes]);
        break;
      case 'applyClass':
        out.classes.push([item.id.replace(/,\s*/g, ','), item.styleClass]);
        break;
      case 'style':
        out.styles.push([item.id, item.styleClass]);
        break;
      case 'click':
        out.clicks.push([item.url.slice(1, -1).trim(), item.tooltip.slice(1, -1).trim()]);
        break;
    }
  }
  // A region's start and end take their name from its generated id.
  const ends = new Map();
  for (const [id, name] of regions) {
    ends.set(`${id}_start`, `${name}_start`);
    ends.set(`${id}_end`, `${name}_end`);
  }
  const named = (id) => ends.get(id) ?? id;
  out.edges = out.edges.map(([from, to, label]) => [named(from), named(to), label]);
  out.divided = [...counts.keys()];
  const pseudo = new Set(['start', 'end', 'stateStart', 'stateEnd']);
  for (const item of db.getData().nodes) {
    const kind = item.shape === 'note' || item.shape === 'noteGroup' || item.shape === 'divider' ? null
      : item.isGroup ? 'group' : (kinds[item.shape] ?? 'plain');
    if (kind === null || pseudo.has(item.shape) || points.has(item.id)) continue;
    const parent = item.parentId === undefined ? 'root' : (regions.get(item.parentId) ?? item.parentId);
    out.states.push([item.id, kind, parent]);
  }
  out.descriptions = [...descriptions].filter(([id]) => !points.has(id));
  out.directions = [...directions];
  out.accTitle = db.getAccTitle();
  out.accDescr = db.getAccDescription();
  return JSON.parse(shown(JSON.stringify(out)));
}
