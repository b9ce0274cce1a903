// A browser without a network opens each page: nothing is requested, nothing runs, and axe finds nothing.
import fs from 'node:fs';
import path from 'node:path';
import { createRequire } from 'node:module';
import puppeteer from 'puppeteer-core';

const outputs = process.argv[2];
const require = createRequire(import.meta.url);
const axe = fs.readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
const browser = await puppeteer.launch({ executablePath: process.env.CHROMIUM, args: ['--no-sandbox', '--disable-gpu'] });

const pages = fs.readdirSync(outputs).filter((file) => file.endsWith('.page.html'));
let views = 0;
const faults = [];

async function view(file, scheme, width, open, picture) {
  const page = await browser.newPage();
  const fault = (what) => faults.push(`${file} (${scheme}, ${width}, ${open ? 'open' : 'closed'}): ${what}`);
  page.on('dialog', (dialog) => { fault(`a dialog: ${dialog.message()}`); dialog.dismiss(); });
  page.on('request', (request) => { if (!request.url().endsWith(encodeURIComponent(file))) fault(`a request: ${request.url()}`); });
  page.on('console', (message) => fault(`the console: ${message.text()}`));
  await page.setOfflineMode(true);
  await page.setViewport({ width, height: 900 });
  await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
  await page.goto(`file://${outputs}/${encodeURIComponent(file)}`);
  if (open) await page.evaluate(() => document.querySelectorAll('details').forEach((it) => { it.open = true; }));
  const found = await page.evaluate(() => ({
    scripts: document.querySelectorAll('script, img, iframe, object, link, base, form, a').length,
    handlers: [...document.querySelectorAll('*')].filter((it) => it.getAttributeNames().some((name) => name.startsWith('on'))).length,
    isWide: document.documentElement.scrollWidth > innerWidth,
  }));
  if (found.scripts + found.handlers > 0) fault('an element that could act');
  if (found.isWide) fault('it is wider than the window');
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => window.axe.run());
  violations.forEach((it) => fault(`axe: ${it.id}: ${it.nodes[0].html.slice(0, 200)}: ${it.nodes[0].failureSummary}`));
  if (picture) await page.screenshot({ path: path.join(outputs, `${picture}.png`) });
  await page.close();
  views += 1;
}

for (const file of pages) {
  const isOwn = file.startsWith('own-');
  if (!isOwn) {
    await view(file, 'light', 1280, false);
    continue;
  }
  // Of its thousand rows axe needs minutes.
  if (file.startsWith('own-long')) {
    await view(file, 'light', 1280, false, `${file}-light`);
    await view(file, 'dark', 380, false, `${file}-dark`);
    continue;
  }
  for (const scheme of ['light', 'dark']) {
    for (const width of [1280, 380]) {
      for (const open of [false, true]) {
        await view(file, scheme, width, open, `${file}-${scheme}-${width}-${open ? 'open' : 'closed'}`);
      }
    }
  }
}

// The browser draws the diagram and the chart of an own lifecycle, for the pictures.
const page = await browser.newPage();
await page.setViewport({ width: 1280, height: 900 });
await page.goto('about:blank');
await page.addScriptTag({ path: path.join(path.dirname(require.resolve('mermaid/package.json')), 'dist/mermaid.min.js') });
for (const kind of ['mermaid', 'gantt']) {
  for (const name of ['own-orders', 'own-hostile']) {
    const text = fs.readFileSync(path.join(outputs, `${name}.${kind}`), 'utf8');
    const drawn = await page.evaluate(async (source) => {
      window.mermaid.initialize({ startOnLoad: false });
      const { svg } = await window.mermaid.render('drawn', source);
      document.body.innerHTML = svg;
      return document.body.querySelectorAll('script, img, iframe').length;
    }, text);
    if (drawn > 0) faults.push(`${name}.${kind}: an element that could act`);
    const isRed = await page.evaluate(() => document.querySelector('#drawn')?.outerHTML.includes('stroke:#c92a2a'));
    if (kind === 'mermaid' && !isRed) faults.push(`${name}.${kind}: no state has the colour of a violation`);
    await page.screenshot({ path: path.join(outputs, `${name}.${kind}.png`) });
  }
}
await browser.close();
if (faults.length > 0) throw new Error(faults.slice(0, 20).join('\n'));
for (const kind of ['stream-', 'stored-', 'own-hostile-run', 'own-governed-', 'own-cut']) {
  if (!pages.some((file) => file.startsWith(kind))) throw new Error(`no page of ${kind}`);
}
for (const file of pages.filter((file) => /own-governed-approved|own-cut/.test(file))) {
  const text = fs.readFileSync(path.join(outputs, file), 'utf8');
  const expected = file.startsWith('own-cut') ? 'The trace is not whole' : 'approved by &lt;script&gt;';
  if (!text.includes(expected)) throw new Error(`${file}: expected the text ${expected}`);
}
console.log(`chromium and axe: ${pages.length} pages, ${views} views, no findings`);
