// Mermaid reads each marked diagram and each chart.
import fs from 'node:fs';
import path from 'node:path';
import { JSDOM } from 'jsdom';

const { window } = new JSDOM('<!doctype html><body></body>');
globalThis.window = window;
globalThis.document = window.document;
const mermaid = (await import('mermaid')).default;
mermaid.initialize({ startOnLoad: false, logLevel: 'fatal' });

const outputs = process.argv[2];
let [diagrams, charts, rows] = [0, 0, 0];
for (const file of fs.readdirSync(outputs)) {
  const text = fs.readFileSync(path.join(outputs, file), 'utf8');
  try {
    if (file.endsWith('.mermaid')) {
      const blocks = text.startsWith('## ') ? [...text.matchAll(/```mermaid\n([^]*?)```/g)].map((it) => it[1]) : [text];
      for (const block of blocks) {
        await mermaid.parse(block);
        diagrams += 1;
      }
    } else if (file.endsWith('.gantt')) {
      const chart = await mermaid.mermaidAPI.getDiagramFromText(text);
      const tasks = chart.db.getTasks();
      const written = text.split('\n').filter((line) => line.includes(' :')).length;
      if (tasks.length !== written) throw new Error(`expected ${written} rows, got ${tasks.length}`);
      const bad = tasks.find((task) => !(task.startTime.getTime() <= task.endTime.getTime()));
      if (bad) throw new Error(`a row has no time: ${bad.task}`);
      charts += 1;
      rows += tasks.length;
    }
  } catch (error) {
    throw new Error(`${file}: ${error.message ?? error}\n${text.slice(0, 3000)}`);
  }
}
console.log(`mermaid: ${diagrams} diagrams, ${charts} charts with ${rows} rows`);
if (diagrams < 150 || charts < 150) throw new Error('expected at least 150 diagrams and 150 charts');
