// The HTML report in a real browser: no request, no console message, every control does something, phone and print fit.
// Usage: node report.mjs PAGE.html [SCREENSHOT_FOLDER]   with playwright-core installed and CHROMIUM naming the browser.
import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

const require = createRequire(path.join(process.cwd(), 'node_modules', 'x.js'));
const { chromium } = require('playwright-core');
const [page_file, shots] = process.argv.slice(2);
assert(statSync(page_file).size <= 1e6, 'the page is at most 1 MB');

let slowest = 0;
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox'] });
for (const scheme of ['light', 'dark']) {
  for (const width of [1600, 1000, 400]) {
    const page = await browser.newPage({ viewport: { width, height: 900 }, colorScheme: scheme });
    const said = [], asked = [];
    page.on('console', message => said.push(message.text()));
    page.on('pageerror', error => said.push(String(error)));
    page.on('request', request => asked.push(request.url()));
    const begun = Date.now();
    await page.goto('file://' + path.resolve(page_file));
    await page.waitForSelector('#layers tbody tr');
    slowest = Math.max(slowest, Date.now() - begun);
    assert.deepEqual(said, []);
    assert.deepEqual(asked.filter(url => !url.startsWith('file:') && !url.startsWith('data:')), []);

    const first = () => page.textContent('#layers tbody tr td:last-child');
    await page.click('#layers th:last-child button');
    const most = await first();
    await page.click('#layers th:last-child button');
    assert.notEqual(await first(), most, 'a second click sorts the other way');

    const unnamed = await page.evaluate(() => {
      const named = new Set([...document.querySelectorAll('#kinds i')].map(mark => mark.style.background));
      return [...document.querySelectorAll('#timeline rect')].filter(box => !named.has(box.getAttribute('fill'))).length;
    });
    assert.equal(unnamed, 0, 'the legend names every colour of the timeline');

    const whole = await page.locator('#timeline rect').count();
    await page.click('#in');
    await page.click('#in');
    assert(await page.locator('#timeline rect').count() < whole, 'zooming in leaves kernels out');
    await page.click('#right');
    await page.click('#all');
    assert.equal(await page.locator('#timeline rect').count(), whole);
    await page.locator('#timeline rect').first().dispatchEvent('click');
    assert.notEqual(await page.textContent('#tip'), '');
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
    assert(overflow <= 0, `nothing is wider than a screen of ${width}`);
    const cut = await page.evaluate(() => [...document.querySelectorAll('.scroll')].map(box => box.scrollWidth - box.clientWidth));
    assert(width < 1000 || cut.every(pixels => pixels <= 0), `no column is cut on a screen of ${width}: ${cut}`);
    if (shots) await page.screenshot({ path: path.join(shots, `${scheme}-${width}.png`), fullPage: width > 1000 });
    await page.emulateMedia({ media: 'print', colorScheme: 'light' });
    await page.setViewportSize({ width: 718, height: 1000 });  // A4 within its margins
    const beyond = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
    assert(beyond <= 0, `print: ${beyond} pixels stand beyond the page`);
    if (shots && width === 1000) await page.pdf({ path: path.join(shots, `${scheme}.pdf`), format: 'A4' });
    assert.deepEqual(said, []);
    await page.close();
  }
}
await browser.close();
assert(slowest < 10000, "the page opens at once, even on a busy machine");
console.log(`opened within ${slowest} ms`);
console.log('1 passed, 0 failed');
