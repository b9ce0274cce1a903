// Known differences. Each has a reason that docs/mermaid-parity.md repeats.

// What Mermaid says when it refuses a state diagram, and not what stands before it.
const STATE_ERRORS = /^(Parse error|Lexical error|Error: State name|Group nodes|No diagram type|Diagrams beginning)/;

/** The reason why this difference is known, or null. */
export function allowed(source, differ, theirs, mine) {
  const front = /^\s*---/.test(source);
  if (differ.includes('acceptance') && front && mine.ok && !STATE_ERRORS.test(theirs.error)) {
    return 'the front matter is not YAML: Mermaid refuses it, this parser does not look into it';
  }
  if (differ.includes('acceptance') && mine.ok && /^Cannot create property/.test(theirs.error)) {
    return 'a directive with a configuration that is no object makes Mermaid fail before it reads the diagram';
  }
  if (/----(note-\d+|parent)\b/.test(source)) return 'a state has a name that Mermaid gives to what it draws for a note';
  return null;
}
