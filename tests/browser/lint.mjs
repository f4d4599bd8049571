// Lints the scripts of the report pages. They share one scope on a page, so each page is linted as the browser sees it.
// Usage: node lint.mjs FOLDER   with eslint installed.
import { readFileSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

const require = createRequire(path.join(process.cwd(), 'node_modules', 'x.js'));
const { Linter } = require('eslint');
const folder = process.argv[2];
const shared = ['elements.js', 'colours.js', 'tables.js', 'figures.js', 'charts.js', 'timeline.js'];
const own = readdirSync(folder).filter(name => name.endsWith('.js') && !shared.includes(name));
const names = ['document', 'window', 'Plot', 'Blob', 'URL', 'XMLSerializer', 'addEventListener', 'setTimeout'];
const rules = Object.fromEntries(['no-undef', 'no-unreachable', 'no-redeclare', 'no-dupe-keys', 'no-dupe-else-if', 'no-const-assign', 'no-self-assign', 'no-self-compare', 'no-shadow-restricted-names',
  'no-var', 'prefer-const', 'eqeqeq', 'no-eval', 'no-implied-eval', 'no-new-func', 'no-unused-expressions', 'no-use-before-define', 'valid-typeof', 'use-isnan'].map(rule => [rule, 'error']));
const unused = new Map();  // a function that no page uses is dead
let problems = 0;
for (const page of own) {
  const files = [...shared, page], texts = files.map(name => readFileSync(path.join(folder, name), 'utf8'));
  const starts = texts.map((text, i) => texts.slice(0, i).reduce((lines, before) => lines + before.split('\n').length - 1, 0));
  const found = new Linter().verify(texts.join(''), [{
    languageOptions: { ecmaVersion: 2022, sourceType: 'script', globals: Object.fromEntries(names.map(name => [name, 'readonly'])) },
    rules: { ...rules, 'no-use-before-define': ['error', { functions: false, variables: false }], 'no-unused-vars': 'error' }}]);
  for (const { line, column, ruleId, message } of found) {
    const file = starts.findLastIndex(start => start < line), where = `${files[file]}:${line - starts[file]}:${column}: ${message}`;
    if (ruleId === 'no-unused-vars' && files[file] !== page) {
      unused.set(where, (unused.get(where) ?? 0) + 1);
      continue;
    }
    console.error(where);
    problems++;
  }
}
for (const [where, times] of unused)
  if (times === own.length) { console.error(where); problems++; }
console.log(`${own.length} pages linted, ${problems} problems`);
process.exit(problems > 0 ? 1 : 0);
