// A second checker of traces, over Mermaid's own reading of a diagram. It shares no code with the crate.

const ENTITIES = { quot: '"', amp: '&', lt: '<', gt: '>', apos: "'", nbsp: '\u00a0' };
const decode = (text) => text.replace(/#(\w+);/g, (all, name) => {
  if (/^\d+$/.test(name)) return Number(name) <= 0x10ffff && !(Number(name) >= 0xd800 && Number(name) < 0xe000) ? String.fromCodePoint(Number(name)) : all;
  return ENTITIES[name] ?? all;
});

/** The event that a label names; null for a remark. */
export function nameOf(label) {
  const name = /^[\p{Alphabetic}_][\p{Alphabetic}\p{N}_.:-]*/u.exec(label)?.[0];
  if (name === undefined) return null;
  let rest = label.slice(name.length);
  if (rest.startsWith('/')) return null;
  rest = rest.trimStart();
  const inner = (open, close) => {
    let depth = 0;
    for (const [at, c] of [...rest].entries()) {
      depth += c === open ? 1 : c === close ? -1 : 0;
      if (depth === 0) return [...rest].slice(at + 1).join('').trimStart();
    }
    return null;
  };
  if (rest.startsWith('(')) rest = inner('(', ')');
  while (rest?.startsWith('[')) rest = inner('[', ']');
  return rest === '' || rest?.startsWith('/') ? name : null;
}

const depth = (label) => [...label].reduce((depth, c) => (depth < 0 ? depth : depth + (c === '[') - (c === ']')), 0);
const guard = (label) => (depth(label) === 0 ? label : label.replaceAll('[', '(').replaceAll(']', ')'));
const join = (...labels) => labels.filter((label) => label !== '').reduce((all, label, at) => (at === 0 ? label : `${all} [${guard(label)}]`), '');

/** Why a diagram cannot be followed. */
export class Unfit extends Error {}

/** The diagram as a judge; null where one state at a time cannot follow it. */
export function judge(view) {
  const meant = new Map([...view.meant].reverse());
  const kind = new Map(view.states.map(([id, what]) => [id, what === 'plain' ? meant.get(id) ?? what : what]));
  const parent = new Map(view.states.map(([id, , of]) => [id, of]));
  if ([...kind.values()].some((what) => what === 'fork' || what === 'join')) return null;
  if (view.divided.length > 0) return null;
  // A state that is inside of itself.
  for (const id of parent.keys()) {
    for (let at = parent.get(id), steps = 0; at !== undefined; at = parent.get(at), steps += 1) if (steps > parent.size) return null;
  }
  const edges = view.edges.map(([from, to, label]) => ({ from, to, label: decode(label) }));
  const children = new Set(parent.values());
  const isGroup = (id) => kind.get(id) === 'group' && children.has(id);
  const starts = (id) => edges.filter((edge) => edge.from === `${id}_start` && !kind.has(edge.from));
  const isOwn = (id) => isGroup(id) && starts(id).length === 0 && edges.some((edge) => edge.to === id);
  const isState = (id) => kind.has(id) && kind.get(id) !== 'choice' && (!isGroup(id) || isOwn(id));
  const isIn = (id, group) => { for (let at = id; at !== undefined; at = parent.get(at)) if (at === group) return true; return false; };
  const states = [...kind.keys()].filter(isState);
  const groups = [...kind.keys()].filter(isGroup);

  /** Where the edge at this place leads: states, with the labels and the arrows on the way. */
  const ways = (at, seen = []) => {
    const { to, from, label } = edges[at];
    const arrows = kind.has(from) ? [at] : [];
    if (seen.includes(at)) throw new Unfit('a circle');
    if (isState(to)) return [{ to, labels: [label], arrows }];
    if (!kind.has(to)) {
      // Past a choice or a start this is the end of a composite state, which is not followed.
      if (seen.length > 0 && to !== 'root_end') throw new Unfit(`${from} --> ${to}`);
      return [];
    }
    const on = edges.map((edge, next) => next).filter((next) => edges[next].from === (isGroup(to) ? `${to}_start` : to));
    if (on.length === 0) throw new Unfit(`${to} leads nowhere`);
    return on.flatMap((next) => ways(next, [...seen, at])).map((way) => ({ ...way, labels: [label, ...way.labels], arrows: [...arrows, ...way.arrows] }));
  };
  /** By which labels of inner ends an instance in `at` completes a group. */
  const completes = (at, group) => {
    const ends = edges.filter((edge) => edge.to === `${group}_end` && !kind.has(edge.to));
    if (ends.length === 0) return isIn(at, group) ? [''] : [];
    const by = ends.flatMap((end) => (isGroup(end.from) && end.label === '' ? completes(at, end.from) : isIn(at, end.from) ? [end.label] : []));
    return at === group ? [...by, ''] : by;
  };
  const leaves = (at, { from, label }) => {
    if (!kind.has(from) || kind.get(from) === 'choice') return [];
    if (isGroup(from) && label === '') return completes(at, from);
    return isIn(at, from) ? [''] : [];
  };
  const key = (at) => JSON.stringify([decode(edges[at].from), nameOf(edges[at].label) ?? edges[at].label, decode(edges[at].to)]);

  /** Each way from one state, told apart by the event that it is held by. */
  const out = new Map(states.map((from) => [from, edges.flatMap((edge, at) => leaves(from, edge).flatMap((first) => ways(at).map((way) => {
    const label = join(first, ...way.labels);
    return { to: way.to, label, held: nameOf(label), by: nameOf(label) ?? label, arrows: way.arrows.map(key) };
  })))]));
  const begins = edges.flatMap((edge, at) => (edge.from === 'root_start' ? ways(at).map((way) => ({ to: way.to, label: join(...way.labels) })) : []));
  const initial = [...new Set(begins.map(({ to }) => to))];
  const isNamed = [...out.values(), begins].flat().some(({ label }) => nameOf(label) !== null);
  return {
    states,
    named: new Map(states.map((id) => [decode(id), id])),
    name: decode,
    initial: initial.length > 0 ? initial : states,
    out,
    arrows: new Set([...out.values()].flat().flatMap((way) => way.arrows)),
    startNames: begins.map(({ label }) => nameOf(label) ?? label),
    composites: [...kind.keys()].filter((id) => isGroup(id) && !isState(id)),
    /** May the event create an instance in this state? */
    creates(event, to) {
      if (initial.length > 0 && !initial.includes(to)) return false;
      // A start without a label is taken by any event only where no label of the diagram is a name.
      const takes = (label) => (nameOf(label) === null ? label !== '' || !isNamed : nameOf(label) === event);
      const own = begins.filter((start) => start.to === to).map(({ label }) => label);
      return event === 'create' || (own.length === 0 ? [''] : own).some(takes);
    },
    /** The composite states that a step enters: those around its end and not around its beginning, and those that it is drawn to lead to. */
    enters: (from, to, arrows) => groups.filter((group) => isIn(to, group) && (from === null || !isIn(from, group) || [...arrows].some((arrow) => JSON.parse(arrow)[2] === decode(group)))),
    /** The arrows that the event takes; null where none is drawn. */
    takes(from, event, to) {
      const there = out.get(from).filter((way) => way.to === to);
      const way = there.find(({ by }) => by === event) ?? there.find(({ held }) => held === null);
      return way === undefined ? null : new Set(there.filter(({ by }) => by === way.by).flatMap(({ arrows }) => arrows));
    },
  };
}
