// The pages of --report in a real browser: no request, no console message, nothing cut at five widths, every control does
// something by mouse and by keys, saved pictures stand alone, names with markup stay names, paper fits.
// Usage: node report.mjs TBDSIM ROOT [SCREENSHOT_FOLDER [PAGE]]   with playwright-core installed and CHROMIUM naming the browser.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';

const require = createRequire(path.join(process.cwd(), 'node_modules', 'x.js'));
const { chromium } = require('playwright-core');
const [program, root, shots, only] = process.argv.slice(2);
const folder = mkdtempSync(path.join(os.tmpdir(), 'tbdsim-pages-'));
const MOST_BYTES = 1.5e6, WIDTHS = [1920, 1600, 900, 400, 320];
const MARKUP = '<img src=x onerror=alert(1)></script><script>alert(2)</script>';

/// A network whose name and layers hold markup.
const hostile = path.join(folder, 'hostile.toml');
writeFileSync(hostile, readFileSync(path.join(root, 'scenarios/examples/small_cnn.toml'), 'utf8').replace(/^name *= *".*"/m, `name = "${MARKUP}"`));

/// Measurements whose names hold markup.
const table = path.join(folder, 'hostile.csv');
writeFileSync(table, 'id,hw,model,stack,batch_per_gpu,metric,unit,measured,group\n' + [16, 32, 64].map(batch =>
  `"${MARKUP} ${batch}",titan-xp,resnet50,mxnet-0.12,${batch},throughput,samples/s,180,"${MARKUP}"`).join('\n') + '\n');

const PAGES = [
  ['predict', 'predict --hw dgx1 --model resnet50 --stack mxnet-1.2'],
  ['predict-amp', 'predict --hw dgx1 --model resnet50 --precision amp --gpus 1'],
  ['predict-boards', 'predict --hw pcie-4x-rtx-4090 --model resnet50 --precision amp -b 64'],
  ['predict-pipeline', 'predict --hw dgx-h100 --model llama-3-8b --precision bf16 --tensor-parallel 2 --pipeline 4 --accumulate 8'],
  ['predict-hostile', `predict --hw titan-xp --model ${hostile}`],
  ['compare', 'compare --hw titan-xp,p4000,gtx-1080-ti --model resnet50'],
  ['compare-terms', 'compare --hw rtx-4090,rtx-5090,l40s,h100-pcie-80gb --model resnet50 --precision amp --duty 60% --power-price 0.2USD/kWh'],
  ['compare-budget', 'compare --hw rtx-4090,rtx-5090,l40s,h100-nvl --gpus 1,8 --model resnet50 --precision amp -b 128 --budget 40000USD --power-price 0.2USD/kWh'],
  ['compare-none', 'compare --hw rtx-4090,rtx-5090 --gpus 1,4 --model llama-2-7b --precision bf16 -b 1 --budget 40000USD'],
  ['compare-fails', 'compare --hw gtx-1080-ti,dgx1,dgx2 --model bert-large --batch 4,64 --precision amp,fp32'],
  ['plan', 'plan --hw dgx-h100 --gpus 64 --model llama-3-8b --global-batch 256 --precision bf16,fp8 --explain'],
  ['plan-clusters', 'plan --hw dgx-h100,dgx-a100-80gb --gpus 16..128*2 --model llama-3-8b --global-batch 512 --tokens 1T'],
  ['plan-one', 'plan --hw dgx-h100 --gpus 8 --model gpt3-1.3b --global-batch 64 --top 1'],
  ['scale', 'scale --hw dgx1 --model resnet50 --gpus 1,2,4,8 --samples 1281167'],
  ['scale-study', 'scale --hw dgx1 --model lenet,alexnet,googlenet --gpus 1,2,4,8 --exchange p2p,nccl --stack mxnet-1.2 --samples 256000'],
  ['scale-nodes', 'scale --hw dgx-h100 --model resnet50 --precision amp --nodes 1,2,4,8,16,32 --samples 1281167'],
  ['sweep', `sweep --hw titan-xp,p4000 --model resnet50,vgg16 --batch 4..32*2 -o ${folder}/sweep.db`],
  ['sweep-names', `sweep --hw titan-xp,p4000,dgx1 --model resnet50 -o ${folder}/names.db`],
  ['memory', 'memory --hw titan-xp --model resnet50 --max-batch'],
  ['memory-batches', 'memory --hw titan-xp --model resnet50 --batch 1..256*2'],
  ['memory-divided', 'memory --hw dgx-h100 --model llama-3-8b --precision bf16 --pipeline 4'],
  ['explain', 'explain --hw dgx1 --model resnet50 --stack mxnet-1.2 --layers'],
  ['explain-measured', 'explain --hw dgx1 --model resnet50 --precision amp --measured 2600images/s'],
  ['network', 'network --hw p4000 --nodes 2 --network 10gbe --stack mxnet-1.2 --exchange ps --model vgg11'],
  ['network-divided', 'network --hw dgx-h100 --nodes 2 --model llama-3-8b --tensor-parallel 8 --precision bf16'],
  ['explain-boards', 'explain --hw rtx-4090 --gpus 4 --model resnet50 --precision amp -b 64 --measured 1500images/s'],
  ['validate', 'validate scenarios/published/mxnet_1_2.csv scenarios/memory/sockeye.csv'],
  ['compare-hostile', `compare --hw titan-xp,p4000 --model ${hostile}`],
  ['scale-hostile', `scale --hw dgx1 --model ${hostile} --gpus 1,2,4 --samples 256K`],
  ['memory-hostile', `memory --hw titan-xp --model ${hostile}`],
  ['sweep-hostile', `sweep --hw titan-xp --model ${hostile} --batch 4..32*2 -o ${folder}/hostile.db`],
  ['sweep-many', `sweep --hw titan-xp,p4000,dgx1 --model resnet50,vgg16,alexnet --batch 1..64 --precision fp32,amp --gpus 1,2 -o ${folder}/many.db`],
  ['validate-hostile', `validate ${table}`],
  ['validate-times', 'validate scenarios/published/u39kun.csv scenarios/published/mxnet_1_2.csv'],
  ['validate-aside', 'validate scenarios/seeds/profiler_table.toml'],
  ['validate-claims', 'validate scenarios/seeds/gpu_comparison.toml'],
  ['topology', 'topology --hw dgx1'],
  ['topology-switch', 'topology --hw dgx2'],
  ['topology-route', 'topology --hw dgx1 --route gpu0 gpu7 --bytes 100MB'],
  ['topology-collective', 'topology --hw dgx-h100 --collective all-reduce --bytes 1KiB..1GiB'],
];

/// What a page says, and what no page of its kind may say again.
const SAYS = {
  'compare-terms': [/power at 0.2 USD\/kWh/, /bought, on the front/, /hollow: another one is faster and cheaper/],
  'compare-budget': [/1 x rtx-4090/, /8 x rtx-5090/, /too dear/, /budget 40000 USD/, /Candidates without a price\s+They are not ranked by cost.*\s+1 x h100-nvl; 8 x h100-nvl/],
  'compare-none': [/First by cost\s+none\s+4 too big/, /power left out/, /too big/],
  predict: [/A lane for each link/, /links of the exchange, 32 in one lane/],
  plan: [/Cost against time/, /85\.5 GB of a board/],
  'plan-clusters': [/85\.5 GB, dgx-h100/],
  memory: [/outside all layers/],
  explain: [/What limits resnet50 on 8 x v100-sxm2-16gb\s+dgx1, mxnet-1.2, fp32/, /The best settings together\s+\+\d/, /--what-if \S+ --what-if/],
  'explain-boards': [/What limits resnet50 on 4 x rtx-4090/, /takes [\d.]+ times as long/, /2 workers/, /a step [\d.]+ % (longer|shorter) than measured/],
  sweep: [/titan-xp, resnet50, batch 32/, /hollow: not on the front/],
  validate: [/of the time, mean of/, /of time/i],
  'validate-times': [/Throughput\s[^]*Step time\s/, /predicted, ms/],
  'validate-aside': [/not counted/],
  'topology-collective': [/1 KiB/, /1 MiB/, /1 GiB/],
};
const NEVER = /\b(null|undefined|NaN)\b|\[object|Infinity|power included|Blue is|Cost over time|no layer|\b0 layers|gpu_compute|intra_node_link|exchange_exposed/;
/// A notice that every copy of the chart library has to hold.
const NOTICES = readFileSync(path.join(root, 'model/report/web/plot/LICENSE'), 'utf8');

const making = ([name, command]) => {
  const file = path.join(folder, name + '.html');
  try {
    execFileSync(program, [...command.split(' '), '--report', file], { cwd: root, env: { ...process.env, TBDSIM_CATALOGUE: root }, stdio: ['ignore', 'ignore', 'pipe'] });
  } catch (error) {
    if (error.status !== 1) throw new Error(`${command}: ${error.stderr}`);  // a check that fails has its page too
  }
  assert(statSync(file).size <= MOST_BYTES, `${name}: the page has ${statSync(file).size} bytes`);
  assert(readFileSync(file, 'utf8').includes('/*\n' + NOTICES + '*/'), `${name}: the page holds the notices of its library`);
  return file;
};

/// Elements that reach beyond the window, texts of pictures that reach beyond their picture.
const beyond = page => page.evaluate(() => {
  const found = [];
  if (document.documentElement.scrollWidth > window.innerWidth) found.push(`page is ${document.documentElement.scrollWidth} wide`);
  for (const svg of document.querySelectorAll('figure svg')) {
    const box = svg.getBoundingClientRect();
    for (const text of svg.querySelectorAll('text')) {
      const inner = text.getBoundingClientRect();
      if (inner.width > 0 && text.textContent.trim() && !text.closest('[aria-label=tip]') &&
          (inner.left < box.left - 2 || inner.right > box.right + 2 || inner.bottom > box.bottom + 2 || inner.top < box.top - 2))
        found.push(`"${text.textContent}" of ${svg.parentElement.id}: ${Math.round(inner.left - box.left)} to ${Math.round(inner.right - box.left)} of ${Math.round(box.width)}`);
    }
  }
  return found;
});

/// Texts of a picture that lie on each other, by their boxes; two pixels of each box are blank.
const overlapping = page => page.evaluate(() => {
  const found = [], blank = 2;
  for (const svg of document.querySelectorAll('figure svg')) {
    const texts = [...svg.querySelectorAll('text')].filter(text => text.textContent.trim() && !text.closest('[aria-label=tip]'))
                      .map(text => [text.textContent, text.getBoundingClientRect()]).filter(([, box]) => box.width > 0).sort((a, b) => a[1].top - b[1].top);
    texts.forEach(([text, a], i) => {
      for (let j = i + 1; j < texts.length && texts[j][1].top < a.bottom - blank; j++) {
        const [other, b] = texts[j];
        if (Math.min(a.right, b.right) - Math.max(a.left, b.left) > blank && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > blank)
          found.push(`"${text}" and "${other}" of ${svg.parentElement.id}`);
      }
    });
  }
  return found;
});

/// A card that stands alone in the last of several rows and does not fill it.
const lonely = page => page.evaluate(() => [...document.querySelectorAll('.cards')].flatMap(place => {
  const boxes = [...place.children].map(card => card.getBoundingClientRect()), last = boxes.at(-1);
  return boxes.length > 1 && boxes.every(box => box === last || box.top < last.top) && last.width < place.clientWidth - 2 ? [place.lastChild.innerText] : [];
}));
/// Heads of columns so narrow that their words fall apart.
const narrow = page => page.evaluate(() => [...document.querySelectorAll('th')].filter(head => head.getBoundingClientRect().height > 110).map(head => head.textContent));
/// Ticks that no person would write.
const crooked = page => page.evaluate(() => [...document.querySelectorAll('[aria-label$="axis tick label"] text')].map(text => text.textContent).filter(text => /^0\.00|e-/.test(text)));

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox'] });
let slowest = 0;

async function open(file, options) {
  const page = await browser.newPage({ colorScheme: 'light', ...options });
  const said = [];
  page.on('console', message => said.push(message.text()));
  page.on('pageerror', error => said.push(String(error)));
  page.on('dialog', dialog => { said.push('dialog'); dialog.dismiss(); });
  page.on('request', request => { if (!/^(file|data|blob):/.test(request.url())) said.push('request ' + request.url()); });
  const begun = Date.now();
  await page.goto('file://' + path.resolve(file));
  await page.waitForSelector('#footer p', { timeout: 10000 }).catch(() => said.push('the page did not end'));
  slowest = Math.max(slowest, Date.now() - begun);
  return { page, said };
}

/// Every head sorts, every search filters, every picture and table can be saved.
async function controls(page, name) {
  const heads = page.locator('th button');
  if (await heads.count() > 0) {
    await heads.first().focus();
    await page.keyboard.press('Enter');
    assert.match(await page.locator('th').first().getAttribute('aria-sort'), /ascending|descending/, name);
  }
  for (const box of await page.locator('input[type=search]').all()) {
    await box.fill('no row has these words');
    const of = await box.evaluate(e => e.closest('section').querySelectorAll('tbody tr').length);
    assert.equal(of, 0, `${name}: the search leaves rows out`);
    await box.fill('');
  }
  // Browsers hand out ten files at once and no more, so that all but the first are caught on their way.
  const first = page.locator('button.save').first();
  const [download] = await Promise.all([page.waitForEvent('download'), first.click()]);
  assert(readFileSync(await download.path(), 'utf8').length > 0, `${name}: a file is saved`);
  const saved = await page.evaluate(async () => {
    const files = [], make = URL.createObjectURL, click = HTMLAnchorElement.prototype.click;
    let blob = null;
    URL.createObjectURL = given => { blob = given; return 'blob:none'; };
    HTMLAnchorElement.prototype.click = function () { files.push([this.download, blob.text()]); };
    for (const button of document.querySelectorAll('button.save')) button.click();
    URL.createObjectURL = make;
    HTMLAnchorElement.prototype.click = click;
    return Promise.all(files.map(async ([file, text]) => [file, await text]));
  });
  assert.equal(saved.length, await page.locator('button.save').count(), `${name}: every button saves`);
  for (const [file, text] of saved) {
    if (shots) writeFileSync(path.join(shots, `${name}-${file}`), text);
    if (file.endsWith('.svg')) {
      assert(text.startsWith('<?xml') && text.includes('xmlns="http://www.w3.org/2000/svg"'), `${name}: ${file} is a picture`);
      assert(!/var\(--|<script|href="http|NaN|Infinity/.test(text), `${name}: ${file} stands alone`);
    } else {
      const lines = text.trim().split('\n');
      assert(lines.length > 1 && lines[0].includes(','), `${name}: ${file} has a head and rows`);
      assert(!/NaN|undefined|Infinity/.test(text), `${name}: ${file}: ${text.match(/.*(NaN|undefined|Infinity).*/)?.[0]}`);
    }
  }
}

async function timelineControls(page) {
  const bars = () => page.locator('#figure-timeline rect[data-kind]').count();
  const whole = await bars();
  await page.click('#in');
  await page.click('#in');
  assert(await bars() < whole, 'zooming in leaves kernels out');
  await page.click('#right');
  await page.click('#all');
  assert.equal(await bars(), whole);
  await page.focus('#figure-timeline');
  await page.keyboard.press('+');
  await page.keyboard.press('+');
  assert(await bars() < whole, 'keys zoom too');
  await page.keyboard.press('Home');
  assert.equal(await bars(), whole);
  await page.locator('#figure-timeline rect[data-kind]').first().dispatchEvent('click');
  assert.notEqual(await page.textContent('#tip'), '');
}

/// Links lie in one lane until a click or a key opens them; they are of the exchange, and the host has its own lanes.
async function linkLanes(page, name) {
  const lanes = () => page.evaluate(() => [...document.querySelectorAll('#figure-timeline svg > text')].map(text => text.textContent).filter(text => !/^[\d.]+ [mun]?s$/.test(text)));
  const ticks = await page.evaluate(() => [...document.querySelectorAll('#figure-timeline svg > text')].map(text => text.textContent).filter(text => /^[\d.]+ [mun]?s$/.test(text)).map(text => Number(text.split(' ')[0])));
  assert(ticks.length > 2 && ticks.every(tick => tick % (ticks[1] - ticks[0]) < 1e-9), `${name}: ticks ${ticks} are round`);
  const folded = await lanes();
  assert.equal(await page.getAttribute('#links', 'aria-expanded'), 'false');
  await page.focus('#links');
  await page.keyboard.press('Enter');
  assert.equal(await page.getAttribute('#links', 'aria-expanded'), 'true');
  const open = await lanes();
  assert(open.length > folded.length && open.some(lane => /^gpu0-/.test(lane)), `${name}: ${open}`);
  const colours = await page.evaluate(() => {
    const lane = [...document.querySelectorAll('#figure-timeline svg > text')].find(text => /^gpu0-/.test(text.textContent)).getBoundingClientRect();
    return [...document.querySelectorAll('#figure-timeline rect[data-kind]')].filter(bar => { const at = bar.getBoundingClientRect().top - lane.bottom; return at > -5 && at < 8; }).map(bar => bar.dataset.kind);
  });
  assert(colours.length > 0 && colours.every(kind => kind === 'exchange'), `${name}: links are drawn as ${[...new Set(colours)]}`);
  await page.click('#links');
  assert.deepEqual(await lanes(), folded);
}

const asked = PAGES.filter(([name]) => !only || name.startsWith(only));
for (const row of asked) {
  const [name] = row, file = making(row);
  for (const scheme of ['light', 'dark']) {
    const { page, said } = await open(file, { viewport: { width: WIDTHS[0], height: 900 }, colorScheme: scheme });
    assert.deepEqual(said, [], name);
    const seen = await page.evaluate(() => document.body.innerText);
    assert(!NEVER.test(seen), `${name}: ${seen.match(new RegExp(`.*(${NEVER.source}).*`))?.[0]}`);
    for (const said of SAYS[name] ?? []) assert.match(seen, said, name);
    assert((await page.textContent('#command')).startsWith('tbdsim ' + row[1].split(' ')[0]), `${name}: the page has its command`);
    const figures = await page.evaluate(() => [...document.querySelectorAll('figure')].map(f => [f.id, f.querySelectorAll('svg path, svg rect, svg circle').length]));
    assert(figures.length > 0 || /^validate-(claims|aside)$/.test(name), `${name}: draws something`);
    for (const [id, marks] of figures) assert(marks > 0, `${name}: ${id} is empty`);
    const grounds = await page.evaluate(() => [document.documentElement, ...document.querySelectorAll('figure svg')].map(e => getComputedStyle(e).getPropertyValue('--plot-background').trim()));
    assert.equal(new Set(grounds).size, 1, `${name}, ${scheme}: pictures have the ground of their page: ${[...new Set(grounds)]}`);
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 900 });
      await page.waitForTimeout(60);
      assert.deepEqual(await beyond(page), [], `${name} at ${width}`);
      assert.deepEqual(await overlapping(page), [], `${name} at ${width}`);
      assert.deepEqual(await lonely(page), [], `${name} at ${width}`);
      assert.deepEqual(await crooked(page), [], `${name} at ${width}`);
      assert.deepEqual(await narrow(page), [], `${name} at ${width}`);
      if (shots && (scheme === 'light' ? [1600, 900, 400].includes(width) : width === 900))
        await page.screenshot({ path: path.join(shots, `${name}-${scheme}-${width}.png`), fullPage: true });
    }
    if (scheme === 'light') {
      await page.setViewportSize({ width: 900, height: 900 });
      await controls(page, name);
      if (await page.locator('#figure-timeline').count() > 0 && name !== 'network') await timelineControls(page);
      if (await page.locator('#links').count() > 0) await linkLanes(page, name);
      const before = await page.evaluate(() => document.querySelector('figure')?.outerHTML);
      await page.setViewportSize({ width: 600, height: 900 });
      await page.setViewportSize({ width: 900, height: 900 });
      await page.waitForTimeout(60);
      assert.equal((await page.evaluate(() => document.querySelector('figure')?.outerHTML))?.length, before?.length, `${name}: drawn anew it is the same`);
    }
    await page.evaluate(() => window.dispatchEvent(new Event('beforeprint')));
    await page.emulateMedia({ media: 'print', colorScheme: scheme });
    await page.setViewportSize({ width: 718, height: 1000 });  // A4 within its margins
    const paper = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
    assert(paper <= 0, `${name}: ${paper} pixels stand beyond the paper`);
    assert.deepEqual(await overlapping(page), [], `${name} on paper`);
    assert.deepEqual(said, [], name);
    if (scheme === 'light' && /^(predict|scale|memory)-hostile/.test(name)) assert((await page.textContent('#title')).includes('<img src=x'), 'markup in a name is shown as it is');
    await page.close();
  }
  console.log(`ok ${name}, ${statSync(file).size} bytes`);
}
await browser.close();
assert(slowest < 10000, 'a page opens at once, even on a busy machine');
console.log(`opened within ${slowest} ms`);
console.log(`${asked.length} passed, 0 failed`);
