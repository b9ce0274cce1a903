// Diagrams from a seed: written by a loose grammar, then, more often than not, damaged.

/** A small generator of pseudo-random numbers (mulberry32). */
export function random(seed) {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
  const below = (n) => Math.floor(next() * n);
  return { below, pick: (list) => list[below(list.length)], chance: (p) => next() < p };
}

const IDS = [
  'A', 'B', 'C', 'Idle', 'Running', 'wait_1', 'état', '状態', 's.t', 'a/b', 'x+y', 'A1', 'state1', 'notes', 'Class', 'endpoint',
  'direction', 'classy', 'A"b', "it's", 'A;', 'a,b', '(p)', 'a|b', 'A%B', 'A#1', 'q?', '!', '@', '*', '[*]x', 'assembly', 'default_',
];
const RARE_IDS = [
  'default', 'click', 'href', 'state', 'note', 'class', 'style', 'scale', 'end', 'as', 'A-B', 'A:B', '<<choice>>', '"A"', 'A{', 'A}', '}',
  '#35;', 'A%%x', 'direction LR', 'hide empty description', 'accTitle', '', '--', '-->', 'stateDiagram', 'root', 'root_start', 'DEFAULT', 'State',
];
const WORDS = [
  'go', 'done', 'x', 'a b', 'retry (3)', 'a: b', 'a; b', 'a::b', 'x --> y', '"quoted"', '#quot;hi#quot;', '# tail', '%% tail', '<b>bold</b>',
  'a<br/>b', '<i class="q">z</i>', 'direction LR', 'direction', '{', '}', '{x}', 'end note', ' ', '', ':', 'a:', ';', 'é', '→', '100%', 'state X',
  'note left of A', '[*]', 'x\\ny', '--', '<<fork>>', 'a,b', '#9829;', '\u00a0', '\u2028', 'redirection  TB', '1', '0', 'as', 'A as B',
];
const SPACES = ['', ' ', ' ', ' ', '  ', '\t', '\n', ' \n', '\u00a0'];

export function diagram(rng) {
  const { below } = rng;
  // Half of the diagrams are meant to be good ones: the first choices of each list.
  const tame = rng.chance(0.6);
  const chance = (p) => rng.chance(tame && p < 0.15 ? 0 : tame && p >= 0.85 ? 1 : p);
  const pick = (list) => rng.pick(tame ? list.slice(0, Math.max(1, Math.ceil(list.length / 3))) : list);
  const id = () => (chance(0.06) ? pick(RARE_IDS) : pick(IDS));
  const end = () => (chance(0.2) ? '[*]' : id() + (chance(0.05) ? ':::' + id() : ''));
  const text = () => (chance(0.3) ? pick(WORDS) + pick(SPACES) + pick(WORDS) : pick(WORDS));
  const gap = () => (chance(0.85) ? ' ' : pick(SPACES));
  const cased = (word) => (chance(0.1) ? word.toUpperCase() : word);
  const label = () => (chance(0.5) ? '' : gap() + ':' + gap() + text());
  const statement = (depth) => {
    const which = below(26);
    const topOnly = [10, 15, 16, 17, 18].includes(which);
    switch (tame && depth > 0 && topOnly ? 20 : which) {
      case 0: return id();
      case 1: return id() + gap() + ':' + gap() + text();
      case 2: return cased('state') + gap() + id();
      case 3: return cased('state') + ' "' + text() + '"' + gap() + cased('as') + gap() + id() + (chance(0.1) ? ':' + text() : '');
      case 4: return 'state ' + id() + gap() + pick(['<<choice>>', '<<fork>>', '<<join>>', '[[fork]]', '[[join]]', '[[choice]]', '<<CHOICE>>', '<<end>>']);
      case 5: case 6: case 7: {
        if (depth > 3) return id();
        const head = chance(0.2) ? `state "${text()}" as ${id()}` : `state ${id()}`;
        const lines = [];
        for (let n = below(5); n > 0; n -= 1) lines.push(rng.chance(0.12) ? '--' : statement(depth + 1));
        const close = chance(0.95) ? '}' : '';
        return head + gap() + '{' + (chance(0.9) ? '\n' : ' ') + lines.join('\n') + (chance(0.9) ? '\n' : ' ') + close;
      }
      case 8: return `note ${pick(['left of', 'right of', 'LEFT OF', 'over', 'left  of'])} ${id()}${gap()}:${gap()}${text()}`;
      case 9: return `note ${pick(['left of', 'right of'])} ${id()}\n${text()}\n${text()}\n${pick(['end note', 'end note', 'END NOTE', 'end  note', 'endnote'])}`;
      case 10: return `note "${text()}" as ${id()}`;
      case 11: return `${cased('direction')}${gap()}${pick(['LR', 'TB', 'RL', 'BT', 'lr', 'TD', 'LRx'])}`;
      case 12: return `classDef ${pick(['hot', 'c1', 'default', 'a-b', 'x,y'])}${gap()}${pick(['fill:#f96', 'fill:#f96;', 'color:red,fill:#abc;stroke:#f96;', ''])}`;
      case 13: return `class ${id()}${pick(['', ',B', ', C', ' ,D'])} ${pick(['hot', 'c1', ''])}`;
      case 14: return `style ${id()}${pick(['', ',B', ', C'])} ${pick(['fill:#f9f,stroke:#333', 'fill:#f9f;'])}`;
      case 15: return `click ${id()} ${pick(['href "u"', '"u" "t"', '"u"', 'href u', 'HREF "u"', 'href "u" "t"'])}${pick(['', ' '])}`;
      case 16: return pick(['scale 350 width', 'scale 350', 'scale 12 width', 'hide empty description', 'HIDE EMPTY DESCRIPTION', 'scale x width']);
      case 17: return pick(['accTitle: ' + text(), 'accDescr: ' + text(), `accDescr {\n${text()}\n}`, 'accDescr {' + text(), 'acctitle : x']);
      case 18: return pick(['%% ', '%%', '# ', '%%{', '%%{init: {"theme":"dark"}}%%', '%%{wrap}%%', '%%{ab cd ef}%%']) + text();
      default: return end() + gap() + (chance(0.96) ? '-->' : pick(['->', '--', '==>', '-- >', '--->'])) + gap() + end() + label();
    }
  };
  const lines = [];
  for (let n = 1 + below(9); n > 0; n -= 1) lines.push(statement(0) + (chance(0.04) ? ';' : '') + (chance(0.04) ? gap() + statement(0) : ''));
  const indent = pick(['', '    ', '\t']);
  const header = chance(0.97) ? pick(['stateDiagram-v2', 'stateDiagram-v2', 'stateDiagram']) : pick(['statediagram-v2', 'stateDiagram-v3', 'stateDiagramx', '']);
  const front = chance(0.05) ? pick(['---\ntitle: T\n---\n', '---\n---\n', '--- \n\n---  \n\n', '  ---\n  title: x\n  ---\n', '---\ntitle: T\n', '\n', '%% c\n', '%%\n', '# c\n']) : '';
  const feed = chance(0.05) ? '\r\n' : chance(0.02) ? '\r' : '\n';
  const body = front + header + pick(['\n', '\n', '\n', ' ', '\n\n']) + indent + lines.join('\n' + indent) + pick(['', '\n']);
  return body.replaceAll('\n', feed);
}

const LABELS = ['go', 'go [fast]', 'x(1) / y', 'done', 'when it is ready', 'a.b:c', 'go [a (b)] / c [d]', 'a ] b', '', ''];

/** A diagram of composite states in one another, choices, parallel transitions and labels of every kind. */
export function nested(rng) {
  const { below, pick, chance } = rng;
  const [states, groups, choices] = [2 + below(5), below(4), below(3)];
  const name = { state: (n) => `S${n}`, group: (n) => `G${n}`, choice: (n) => `c${n}` };
  const inside = Array.from({ length: groups + 1 }, () => []); // the last is the root
  for (let n = 0; n < states; n += 1) inside[chance(0.5) && groups > 0 ? below(groups) : groups].push(name.state(n));
  // A group is in an earlier one, so that none is in itself.
  for (let n = 0; n < groups; n += 1) inside[chance(0.4) && n > 0 ? below(n) : groups].push(name.group(n));
  const body = (of) => inside[of].map((id) => {
    if (id.startsWith('c')) return `state ${id} <<choice>>`;
    if (!id.startsWith('G')) return id;
    const [group, lines] = [Number(id.slice(1)), []];
    const parts = inside[group].filter((id) => !id.startsWith('c'));
    if (parts.length > 0 && chance(0.6)) lines.push(`[*] --> ${pick(parts)}${chance(0.1) ? ' : begin' : ''}`);
    if (parts.length > 0 && chance(0.4)) lines.push(`${pick(parts)} --> [*]${chance(0.3) ? ' : done' : ''}`);
    return `state ${id} {\n${body(group)}\n${lines.join('\n')}\n}`;
  }).join('\n');
  const nodes = [...Array(states).keys()].map(name.state).concat([...Array(groups).keys()].map(name.group));
  // A choice may stand in a composite state.
  for (let n = 0; n < choices; n += 1) inside[chance(0.3) && groups > 0 ? below(groups) : groups].push(name.choice(n));
  const lines = [`stateDiagram-v2`, body(groups)];
  lines.push(`[*] --> ${pick(nodes)}${chance(0.2) ? ' : ' + pick(['open', 'open(order) [new]', 'on a call', 'create']) : ''}`);
  const label = () => { const text = pick(LABELS); return text === '' ? '' : ` : ${text}`; };
  for (let n = 1 + below(12); n > 0; n -= 1) {
    const to = chance(0.2) && choices > 0 ? name.choice(below(choices)) : pick(nodes);
    lines.push(`${pick(nodes)} --> ${to}${label()}`);
  }
  for (let n = 0; n < choices; n += 1) {
    for (let ways = 1 + below(3); ways > 0; ways -= 1) lines.push(`${name.choice(n)} --> ${n + 1 < choices && chance(0.3) ? name.choice(n + 1) : chance(0.1) ? '[*]' : pick(nodes)}${label()}`);
  }
  if (chance(0.5)) lines.push(`${pick(nodes)} --> [*]`);
  return lines.join('\n');
}

const SPLINTERS = [
  ' ', '\n', ';', ':', '::', ':::', '"', '{', '}', '-', '--', '-->', '[*]', '%%', '%%{', '}%%', '#', '#35;', '<', '<b a="c">', ',', 'state ', 'note ',
  ' as ', 'end note', 'direction LR', '<<choice>>', 'accDescr{', 'class ', 'style ', 'classDef ', '\t', '\r', '\u2028', '\ufeff', '\u0085', 'é', '---\n', 'scale ',
];

/** Between one and four small injuries. */
export function damage(source, rng) {
  const { below, pick } = rng;
  let text = source;
  for (let n = 1 + below(4); n > 0; n -= 1) {
    const at = below(text.length + 1);
    const length = 1 + below(6);
    switch (below(6)) {
      case 0: text = text.slice(0, at) + text.slice(at + length); break;
      case 1: case 2: text = text.slice(0, at) + pick(SPLINTERS) + text.slice(at); break;
      case 3: text = text.slice(0, at) + text.slice(at, at + length * 3) + text.slice(at); break;
      case 4: {
        const lines = text.split('\n');
        const [from, to] = [below(lines.length), below(lines.length)];
        [lines[from], lines[to]] = [lines[to], lines[from]];
        text = lines.join('\n');
        break;
      }
      default: text = below(4) === 0 ? text.slice(0, at) : text.slice(0, at) + pick(SPLINTERS) + text.slice(at + 1);
    }
  }
  // A NUL separates diagrams on the way to the parser, and half a surrogate pair is no text.
  return text.replaceAll('\0', '').toWellFormed();
}
