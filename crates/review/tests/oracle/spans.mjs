// speedscope imports each Chrome trace; its spans are those of the trace.
import fs from 'node:fs';
import path from 'node:path';
import { createRequire } from 'node:module';
import puppeteer from 'puppeteer-core';

const outputs = process.argv[2];
const speedscope = path.dirname(createRequire(import.meta.url).resolve('speedscope/package.json'));
const browser = await puppeteer.launch({ executablePath: process.env.CHROMIUM, args: ['--no-sandbox', '--disable-gpu', '--use-gl=swiftshader', '--enable-unsafe-swiftshader'] });

// The stays of a trace: state, begin and end in microseconds. A last state is open, unless the Chrome trace has it as an instant.
function stays(file, instants) {
  const events = fs.readFileSync(file, 'utf8').trim().split('\n').map((line) => JSON.parse(line));
  const begin = events[0].at_ms;
  const lanes = new Map();
  for (const event of events) {
    const key = JSON.stringify([event.run, event.lifecycle, event.instance]);
    lanes.set(key, [...(lanes.get(key) ?? []), event]);
  }
  const last = Math.max(...events.map((event) => event.at_ms)) - begin;
  return [...lanes.values()].map((lane, place) => lane.flatMap((event, at) => {
    const next = lane[at + 1];
    const isInstant = (it) => it.tid === place + 1 && it.name === event.to && it.ts === (event.at_ms - begin) * 1000;
    if (!next && instants.some(isInstant)) return [];
    return [[event.to, (event.at_ms - begin) * 1000, (next ? next.at_ms - begin : last) * 1000]];
  }));
}

async function imported(text) {
  const page = await browser.newPage();
  await page.evaluateOnNewDocument(() => {
    URL.createObjectURL = (blob) => { window.saved = blob; return 'blob:none'; };
    HTMLAnchorElement.prototype.click = () => {};
  });
  await page.goto(`file://${speedscope}/dist/release/index.html#localProfilePath=none`);
  await page.evaluate((data) => window.speedscope.loadFileFromBase64('trace.json', data), Buffer.from(text).toString('base64'));
  await page.waitForFunction(() => document.querySelectorAll('canvas').length > 0, { timeout: 20_000 });
  await page.keyboard.down('Control');
  await page.keyboard.press('s');
  await page.keyboard.up('Control');
  await page.waitForFunction(() => window.saved, { timeout: 20_000 });
  const saved = JSON.parse(await page.evaluate(() => window.saved.text()));
  await page.close();
  return saved;
}

const sorted = (list) => list.map((it) => JSON.stringify(it)).sort();
let [traces, spans] = [0, 0];
const wanted = fs.readdirSync(outputs).filter((file) => file.endsWith('.perfetto') && !file.startsWith('own-hostile'));
for (const file of wanted) {
  const text = fs.readFileSync(path.join(outputs, file), 'utf8');
  const instants = JSON.parse(text).traceEvents.filter((event) => event.ph === 'i');
  const lanes = stays(path.join(outputs, file.replace(/perfetto$/, 'jsonl')), instants);
  // A trace without any duration has instants alone, and speedscope no profile.
  if (lanes.flat().every(([, begin, end]) => begin === end)) continue;
  const saved = await imported(text);
  const got = saved.profiles.map((profile) => {
    const open = [];
    return profile.events.flatMap((event) => {
      if (event.type === 'O') {
        open.push(event);
        return [];
      }
      const begun = open.pop();
      if (begun.frame !== event.frame) throw new Error(`${file}: the spans of ${profile.name} cross`);
      return [[saved.shared.frames[event.frame].name.split(' {')[0], begun.at, event.at]];
    });
  });
  // speedscope counts from the first span of a thread, and a stay without a duration is an instant.
  const expected = lanes
    .map((lane) => lane.filter(([, begin, end]) => end > begin))
    .map((lane) => lane.map(([state, begin, end]) => [state, begin - lane[0][1], end - lane[0][1]]));
  const [a, b] = [got, expected].map((lists) => sorted(lists.filter((list) => list.length > 0)));
  if (JSON.stringify(a) !== JSON.stringify(b)) throw new Error(`${file}: expected\n${b.join('\n')}\ngot\n${a.join('\n')}`);
  traces += 1;
  spans += expected.flat().length;
}
await browser.close();
console.log(`speedscope: ${traces} traces, ${spans} spans with a duration`);
if (traces < 30 || spans < 100) throw new Error('expected at least 30 traces and 100 spans');
