// The page in a real browser: questions get the JSON of the command line; links that hold nonsense get the
// tool's own words and run nothing; no request, no console message; answers come at once; phone and keyboard work.
// Usage: node page.mjs PAGE.html TBDSIM SOURCE_DIR [SCREENSHOT_FOLDER]   with playwright-core installed, CHROMIUM naming the browser.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { gzipSync } from 'node:zlib';

const require = createRequire(path.join(process.cwd(), 'node_modules', 'x.js'));
const { chromium } = require('playwright-core');
const [page_file, program, root, shots] = process.argv.slice(2);
const FIRST_ANSWER = 1500, NEXT_ANSWER = 100;  // milliseconds
const patience = Number(process.env.PATIENCE ?? 1);  // more on a busy machine
assert(gzipSync(readFileSync(page_file)).length <= 6e6, 'the page is at most 6 MB compressed');

const QUESTIONS = [
  'predict?hw=dgx1&model=resnet50',
  'predict?hw=titan-xp&model=vgg16&batch=16&precision=fp32&stack=mxnet-1.2',
  'predict?hw=dgx-a100-80gb&model=bert-large&precision=amp&nodes=4',
  'predict?hw=dgx1&model=gpt2&batch=4&gpus=8&pipeline-parallel=2&accumulate=4',
  'predict?hw=dgx1&model=resnet50&set=hw.device.memory_bandwidth%3D2x&what-if=amp&layers=true',
  'memory?hw=dgx1&model=resnet50&max-batch=true',
  'memory?hw=titan-xp&model=alexnet&batch=32,64,128',
  'explain?hw=titan-xp&model=resnet50',
  'compare?hw=titan-xp,p4000,dgx1&model=resnet50&gpus=1&years=3',
  'compare?hw=dgx1&model=resnet50,inception-v3&batch=16,32',
  'plan?hw=dgx-a100-80gb&model=gpt3-760m&gpus=16&global-batch=64&keep=context-parallel%3D1&keep=schedule%3D1f1b',
  'plan?hw=dgx-h100,dgx-a100-80gb&model=llama-3-8b&gpus=8,16&global-batch=64&seq-len=4096&objective=cost&top=3&keep=context-parallel%3D1',
];
const pairs = question => [...new URLSearchParams(question.slice(question.indexOf('?') + 1))];
const words = question => [question.slice(0, question.indexOf('?')),
  ...pairs(question).flatMap(([name, value]) => (value === 'true' ? [`--${name}`] : [`--${name}`, value]))];
const environment = { ...process.env, TBDSIM_CATALOGUE: root };
const printed = question => execFileSync(program, [...words(question), '--format', 'json'], { env: environment, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
const refused = question => spawnSync(program, words(question), { env: environment, encoding: 'utf8' }).stderr.replace(/^tbdsim: /, '').trimEnd();

// exp, hypot and cbrt of two C libraries differ in the last digit, as they do between processors with and without fused multiply-add.
const rounded = value => JSON.parse(JSON.stringify(value, (key, inner) => (typeof inner === 'number' ? Number(inner.toPrecision(12)) : inner)));

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox'] });
const url = 'file://' + path.resolve(page_file);
const said = [], asked = [];
async function open(viewport, colorScheme = 'light') {
  const page = await browser.newPage({ viewport, colorScheme });
  page.on('console', message => said.push(message.text()));
  page.on('pageerror', error => said.push(String(error)));
  page.on('dialog', dialog => said.push(`dialog ${dialog.message()}`));
  page.on('request', request => asked.push(request.url()));
  return page;
}
const settled = page => page.waitForFunction(() => ['answered', 'refused'].includes(document.querySelector('#answer').dataset.state), null, { polling: 'raf' });
async function turn(page, question) {
  await page.evaluate(hash => {
    document.querySelector('#answer').dataset.state = 'turning';
    location.hash = hash;
  }, question);
  await settled(page);
}

const page = await open({ width: 1280, height: 900 });
const begun = Date.now();
await page.goto(url);
await settled(page);
const first = Date.now() - begun;
assert.equal(await page.getAttribute('#answer', 'data-state'), 'answered');
await page.click('#raw summary');

let same = 0;
for (const question of QUESTIONS) {
  await turn(page, question);
  assert.equal(await page.textContent('#errors:not([hidden])', { timeout: 1 }).catch(() => ''), '', question);
  const shown = await page.textContent('#json'), wanted = printed(question).replaceAll(root, '/tbdsim');
  assert.deepEqual(rounded(JSON.parse(shown)), rounded(JSON.parse(wanted)), question);
  same += shown.trimEnd() === wanted.trimEnd() ? 1 : 0;
  const command = await page.textContent('#command');
  assert.equal(execFileSync('bash', ['-c', `${command.replace('tbdsim', '"$0"')} --format json`, program], { env: environment, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }),
    printed(question), `the command shown: ${command}`);
}

// Nonsense.
const mark = encodeURIComponent('<img src=x onerror=alert(1)>');
for (const [link, expected] of [
  ['predict?hw=dgx9&model=resnet50', refused('predict?hw=dgx9&model=resnet50')],
  [`predict?hw=${mark}&model=resnet50`, null], [`${mark}?hw=dgx1`, null], [`predict?${mark}=1`, null],
  ['predict?hw=dgx1&model=resnet50&bach=3&gpu=1', 'predict: unknown option "--bach", did you mean "--batch"?\npredict: unknown option "--gpu", did you mean "--gpus"?'],
  ['predict?hw=dgx1&model=resnet50&batch=-5', refused('predict?hw=dgx1&model=resnet50&batch=-5')],
  ['predict?hw=dgx1&model=resnet50&batch=16&batch=32', 'predict: --batch is given twice'],
  ['calibrate?x=1', 'unknown verb "calibrate"'], ['sweep?hw=dgx1&model=resnet50', 'sweep: keeps its rows in a file; ask the command line or the Python module'],
  ['%', null], ['?', null], ['predict?hw=%00', 'predict: --hw: a name or value without NUL characters is expected'], [`predict?hw=${'a'.repeat(100000)}`, null],
]) {
  await turn(page, link);
  assert.equal(await page.getAttribute('#answer', 'data-state'), 'refused', link);
  const text = await page.textContent('#errors');
  assert(text.length > 10 && text.length < 1000, `${link.slice(0, 60)}: ${text.slice(0, 200)}`);
  if (expected !== null) assert(text.startsWith(expected), `${link}: ${text}`);
  assert.equal(await page.locator('img, #errors *').count(), 0, 'markup of a link stays text');
}

// Each change is answered at once, and the link and the command follow it.
await turn(page, 'predict?hw=dgx1&model=resnet50');
const times = [];
for (const [name, value] of [['batch', '16'], ['batch', '64'], ['gpus', '4'], ['batch', '48'], ['gpus', '2']]) {
  const before = Date.now();
  await page.evaluate(() => { document.querySelector('#answer').dataset.state = 'turning'; });
  await page.fill(`#field-${name}`, value);
  await settled(page);
  times.push(Date.now() - before);
  assert(page.url().includes(`${name}=${value}`));
  assert((await page.textContent('#command')).includes(`--${name} ${value}`));
}
await page.selectOption('#field-precision', 'amp');
await settled(page);
assert(page.url().includes('precision=amp'));

// A plan: rows open as questions of their own, what is left out is said, and a long search is given up for the next question.
await turn(page, QUESTIONS.find(question => question.startsWith('plan?')));
assert((await page.textContent('.left-out')).startsWith('Only layouts with context-parallel=1, schedule=1f1b were searched'));
assert.equal(await page.locator('.commands li').count(), JSON.parse(printed(QUESTIONS.find(question => question.startsWith('plan?')))).rows.length);
const of_row = await page.textContent('.commands li:first-child');
await page.evaluate(() => { document.querySelector('#answer').dataset.state = 'turning'; });
await page.click('a.layout >> nth=0');
await settled(page);
assert.equal(await page.textContent('#command'), of_row);
await turn(page, 'predict?hw=dgx1&model=resnet50');
await page.evaluate(() => { location.hash = 'plan?hw=dgx-a100-80gb&model=gpt3-175b&gpus=512&global-batch=110880'; });
await page.waitForFunction(() => document.querySelector('#state').textContent.startsWith('Searching for'), null, { timeout: 10000 * patience });
const left = Date.now();
await turn(page, 'predict?hw=dgx1&model=vgg16');
assert.equal(await page.getAttribute('#answer', 'data-state'), 'answered');
assert(Date.now() - left <= 2 * FIRST_ANSWER * patience, 'a search does not hold the page up');
assert((await page.getAttribute('#verbs a:last-child', 'href')).includes('model=vgg16&global-batch=512'));
await turn(page, 'predict?hw=dgx1&model=resnet50');

// The keyboard alone: to the next question, and there.
await page.evaluate(() => document.querySelector('#verbs a').focus());
await page.keyboard.press('Tab');
await page.evaluate(() => { document.querySelector('#answer').dataset.state = 'turning'; });
await page.keyboard.press('Enter');
await settled(page);
assert(page.url().includes('#memory?'));
await page.close();

// Widths and colours.
for (const colorScheme of ['light', 'dark']) {
  for (const width of [320, 1024, 1920]) {
    for (const question of ['predict?hw=dgx1&model=resnet50', 'compare?hw=dgx1,dgx-a100-80gb,titan-xp&model=resnet50', 'memory?hw=dgx1&model=resnet50', 'explain?hw=dgx1&model=resnet50', QUESTIONS.at(-2)]) {
      const view = await open({ width, height: 900 }, colorScheme);
      await view.goto(`${url}#${question}`);
      await settled(view);
      assert.equal(await view.getAttribute('#answer', 'data-state'), 'answered');
      const beyond = await view.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
      assert(beyond <= 0, `${question}: ${beyond} pixels stand beyond a screen of ${width}`);
      if (shots) await view.screenshot({ path: path.join(shots, `${question.split('?')[0]}-${colorScheme}-${width}.png`), fullPage: true });
      await view.close();
    }
  }
}
await browser.close();
assert.deepEqual(said, []);
assert.deepEqual(asked.filter(address => !/^(file|data|blob):/.test(address)), []);
const slowest = Math.max(...times);
console.log(`first answer after ${first} ms, changes answered within ${times.join(', ')} ms`);
assert(first <= FIRST_ANSWER * patience && slowest <= NEXT_ANSWER * patience, 'answers come at once');
console.log(`${QUESTIONS.length} questions answered as the command line does to 12 digits, ${same} of them byte for byte`);
console.log('1 passed, 0 failed');
