// Writes traces as JSON lines: those of the expected results of scenarios, and two with own diagrams. And a hostile scenario.
import fs from 'node:fs';
import path from 'node:path';

const [scenarios, outputs] = process.argv.slice(2);
const write = (name, events) =>
  fs.writeFileSync(path.join(outputs, `${name}.jsonl`), events.map((event) => `${JSON.stringify(event)}\n`).join(''));

let count = 0;
for (const file of fs.readdirSync(scenarios).filter((file) => file.endsWith('.trace'))) {
  const text = fs.readFileSync(path.join(scenarios, file), 'utf8');
  const section = text.split(/\n\n/).find((part) => part.startsWith('transitions\n'));
  const steps = (section ?? '').matchAll(/^ +(\d+) ms +(\S+) (\S+) +(\S+) --> (\S+) : (\S+)$/gm);
  const events = [...steps].map(([, at, lifecycle, instance, from, to, event], place) => ({
    seq: place + 1, at_ms: Number(at), run: file, lifecycle, instance, event, from: from === '[*]' ? null : from, to,
  }));
  if (events.length === 0) continue;
  write(path.basename(file, '.trace'), events);
  count += 1;
}
if (count < 100) throw new Error(`expected the traces of 100 scenarios, got ${count}`);

const begin = 1_700_000_000_000;
const order = (seq, at, instance, event, from, to, more) =>
  ({ seq, at_ms: begin + at, run: 'shop-7', lifecycle: 'order', instance, event, from, to, ...more });
const shop = `stateDiagram-v2
    direction LR
    [*] --> Cart
    Cart --> Paid : pay [total > 0]
    state Paid {
        [*] --> WaitingForStock
        WaitingForStock --> Packed : pack
    }
    Packed --> Shipped : ship
    Cart --> Cancelled : cancel
    Shipped --> [*]
    Cancelled --> [*]
    note right of Cart : the basket of a visitor
`;
write('own-orders', [
  order(1, 0, '7f3c9a52-90be', 'create', null, 'Cart', { actor: 'ada' }),
  order(2, 1250, '7f3c9a52-90be', 'pay', 'Cart', 'WaitingForStock', { arguments: { total: 12.5 }, actor: 'grace' }),
  order(3, 1500, 'b', 'create', null, 'Cart'),
  order(4, 7_201_500, '7f3c9a52-90be', 'pack', 'WaitingForStock', 'Packed'),
  order(5, 7_202_000, 'b', 'ship', 'Cart', 'Shipped'),
  order(6, 7_203_000, '7f3c9a52-90be', 'ship', 'Packed', 'Shipped'),
  order(7, 7_203_500, 'c', 'create', null, 'Cart'),
  order(8, 7_203_900, 'c', 'pay', 'Cart', 'WaitingForStock'),
  order(9, 7_209_000, 'd', 'create', null, 'Cart'),
]);
fs.writeFileSync(path.join(outputs, 'own-orders.mmd'), shop);

// A long day: 250 orders, of which each twentieth still waits, and one that ships from its cart.
write('own-long', Array.from({ length: 250 }, (_, place) => {
  const [at, id] = [place * 240_000, `7f3c9a52-90be-4d1e-8a3f-${String(place).padStart(12, '0')}`];
  const steps = [[0, 'create', null, 'Cart'], [1_250, 'pay', 'Cart', 'WaitingForStock'], [95_000, 'pack', 'WaitingForStock', 'Packed']];
  if (place % 20 !== 7) steps.push([98_000, 'ship', 'Packed', 'Shipped']);
  if (place % 20 === 7) steps.pop();
  if (place === 180) steps.splice(1, 2, [2_000, 'ship', 'Cart', 'Shipped']);
  return steps.map(([after, ...step]) => [at + after, id, ...step]);
}).flat().sort((a, b) => a[0] - b[0]).map(([at, id, ...step], place) => order(place + 1, at, id, ...step)));
fs.writeFileSync(path.join(outputs, 'own-long.mmd'), shop);

const hostile = [
  '<script>alert(1)</script>', '"><img src=http://example.org/x onerror=alert(1)>', '\u202egnp.exe', 'nul\0nul', '\x1b[2J\x9b31m',
  'a\nb\r\n\u2028c', ']]> --> `|`` @all #1; %% : ,', '</style></details><h1>x', 'javascript:alert(1)', 'section x', 'end', '',
  'x'.repeat(1 << 20),
];
write('own-hostile', hostile.flatMap((text, place) => [
  order(2 * place + 1, place, text, text, null, text, { [`x${text.slice(0, 40)}`]: text, run: text }),
  order(2 * place + 2, place + 1, text, text, text, text, { arguments: { text }, run: text }),
]));
fs.writeFileSync(path.join(outputs, 'own-hostile.mmd'), shop);

// A run whose answers have these texts. A file of YAML has no control characters but in escapes.
const escaped = (json) => json.replace(/[\x7f-\x9f]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);
const arguments_ = Object.fromEntries(hostile.map((text, place) => [`a${place}`, text]));
fs.writeFileSync(path.join(outputs, 'own-hostile-run.yaml'), escaped(JSON.stringify({
  name: 'hostile',
  message: hostile.slice(0, -1).join(' '),
  approve: ['pay'],
  tools: { pay: { does: [{ gives: { success: hostile.slice(0, -1).join(' ') } }] } },
  model: [
    { calls: [{ id: 'p', tool: 'pay', arguments: arguments_ }] },
    { text: hostile.slice(0, -1).join(' ') },
  ],
  decisions: [{ call: 'p', action: 'approve', reason: hostile[1] }],
})));
