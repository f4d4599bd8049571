// The page of a report. Its script has no dependency and draws with SVG; longer than a source should be, because it is one page.
#include "model/report/html.hpp"

namespace tbdsim {

std::string_view html_template() {
  static constexpr std::string_view kPage = R"html(<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>tbdsim report</title><link rel="icon" href="data:,">
<style>
:root { --back: #fff; --text: #1a1d21; --soft: #5c6570; --line: #d9dee4; --card: #f5f7f9;
  --c0: #2b6cb0; --c1: #dd8452; --c2: #55a868; --c3: #c44e52; --c4: #8172b3; --c5: #937860; --c6: #da8bc3; --c7: #8c8c8c; --c8: #ccb974; --c9: #64b5cd; }
@media (prefers-color-scheme: dark) { :root { --back: #14171a; --text: #e6e9ec; --soft: #98a2ad; --line: #333a41; --card: #1d2226; --c0: #63a4e8; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1rem; max-width: 70rem; background: var(--back); color: var(--text); font: 15px/1.45 system-ui, sans-serif; }
h1 { font-size: 1.4rem; margin: 0; } h2 { font-size: 1.1rem; margin: 2rem 0 .5rem; } .soft { color: var(--soft); }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(11rem, 1fr)); gap: .7rem; margin-top: 1rem; }
.card { background: var(--card); border-radius: .5rem; padding: .7rem .9rem; } .card b { display: block; font-size: 1.25rem; }
.bar { display: flex; height: 1.6rem; border-radius: .3rem; overflow: hidden; } .bar span { min-width: 1px; }
.legend { display: flex; flex-wrap: wrap; gap: .2rem 1rem; margin-top: .4rem; font-size: .85rem; }
.legend i { display: inline-block; width: .75rem; height: .75rem; border-radius: .15rem; margin-right: .35rem; }
.scroll { overflow-x: auto; } table { border-collapse: collapse; width: 100%; font-size: .85rem; }
th, td { padding: .25rem .6rem; text-align: right; border-bottom: 1px solid var(--line); white-space: nowrap; }
th { white-space: normal; vertical-align: bottom; }
.scroll td:first-child { white-space: normal; overflow-wrap: anywhere; min-width: 7.5rem; position: sticky; left: 0; background: var(--back); }
th:first-child, td:first-child, .words td { text-align: left; } .words td { white-space: normal; overflow-wrap: anywhere; }
th button { all: unset; cursor: pointer; font-weight: 600; } th button:focus-visible { outline: 2px solid var(--c0); }
svg { width: 100%; display: block; background: var(--card); border-radius: .5rem; touch-action: pan-y; } svg text { fill: var(--soft); font-size: 11px; }
.tools button { font: inherit; padding: .2rem .7rem; margin: 0 .3rem .4rem 0; border: 1px solid var(--line); border-radius: .3rem; background: var(--card); color: var(--text); }
#tip { min-height: 1.4em; font-size: .85rem; }
@media screen and (min-width: 60rem) { .scroll td:first-child { min-width: 10.5rem; } }
@media print { body { max-width: none; padding: 0; } .scroll { overflow: visible; } table { font-size: .65rem; } th, td { padding: .1rem .25rem; } .scroll td:first-child { min-width: 5rem; } .tools, th button::after { display: none; } h2 { break-after: avoid; } tr, svg { break-inside: avoid; } }
</style></head><body>
<h1 id="title"></h1><div class="soft" id="subtitle"></div><div class="cards" id="cards"></div>
<h2>Where the step goes</h2><div id="stages"></div><p id="limits" class="soft"></p>
<h2 id="timeline-title">Timeline of one GPU</h2>
<div class="tools"><button id="in">Zoom in</button><button id="out">Zoom out</button><button id="left">Left</button><button id="right">Right</button><button id="all">Whole step</button></div>
<svg id="timeline" height="110" role="img" aria-label="Kernels and exchanges of one step over time"></svg><div id="kinds" class="legend"></div><div id="tip" class="soft"></div>
<div id="held-part"><h2>Memory of each rank over the schedule</h2><svg id="held" height="180" role="img" aria-label="Memory of each rank over the step"></svg><div id="held-ranks" class="legend"></div></div>
<h2>Memory of a GPU</h2><div id="memory"></div>
<div id="scaling-part"><h2>Scaling</h2><svg id="scaling" height="260" viewBox="0 0 700 260" role="img" aria-label="Throughput over the number of GPUs"></svg><p class="soft">Line: predicted throughput; band: its 80 % range; dashed: every GPU as fast as with the fewest.</p></div>
<div id="cost-part"><h2>Time and cost of a million samples</h2><svg id="cost" height="260" viewBox="0 0 700 260" role="img" aria-label="Cost over time of a million samples, for each number of GPUs"></svg><p class="soft">Every point is <span id="paid"></span>. Filled: no other point is better in time, cost and memory together.</p></div>
<h2>Layers</h2><div class="scroll"><table id="layers"></table></div>
<h2>Kernels</h2><div class="scroll"><table id="kernels"></table></div>
<h2>Where the constants come from</h2><table id="provenance" class="words"></table><div id="notices"></div>
<script type="application/json" id="data">@DATA@</script>
<script>
'use strict';
const data = JSON.parse(document.getElementById('data').textContent), p = data.prediction;
const at = id => document.getElementById(id);
const make = (tag, text, parent, attributes) => {
  const e = document.createElement(tag);
  if (text !== undefined) e.textContent = text;
  for (const key in attributes || {}) e.setAttribute(key, attributes[key]);
  if (parent) parent.append(e);
  return e;
};
const draw = (tag, attributes, parent, text) => {
  const e = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const key in attributes) e.setAttribute(key, attributes[key]);
  if (text !== undefined) e.textContent = text;
  parent.append(e);
  return e;
};
const digits = x => x === 0 ? '0' : x >= 1e5 || x < 1e-3 ? x.toExponential(2) : String(+x.toPrecision(3));
const scaled = (x, units) => { let i = 0; while (i + 1 < units.length && Math.abs(x) >= units[i + 1][0]) i++; return digits(x / units[i][0]) + ' ' + units[i][1]; };
const time = s => scaled(s, [[1e-9, 'ns'], [1e-6, 'us'], [1e-3, 'ms'], [1, 's']]);
const bytes = b => scaled(b, [[1, 'B'], [1e3, 'kB'], [1e6, 'MB'], [1e9, 'GB']]);
const percent = x => digits(100 * x) + ' %';
const words = key => key.replaceAll('_', ' ');
const color = i => i < 0 ? 'var(--line)' : 'var(--c' + (i % 10) + ')';

at('title').textContent = p.inputs.workload.name + ' on ' + p.config.gpus + ' x ' + p.inputs.hardware.device;
at('subtitle').textContent = [p.inputs.hardware.name, p.inputs.stack.name, p.config.precision, 'batch ' + p.config.batch_per_gpu + ' per GPU', p.config.exchange, p.config.optimizer, 'tbdsim ' + p.tool.version].join(', ');
const card = (name, value, note) => { const c = make('div', name, at('cards'), {class: 'card'}); make('b', value, c); make('span', note, c, {class: 'soft'}); };
card('Throughput', digits(p.throughput.value) + ' ' + p.throughput.input_unit + 's/s', '80 % range ' + digits(p.throughput.low) + ' to ' + digits(p.throughput.high));
card('Step time', time(p.step_time_s.value), '80 % range ' + time(p.step_time_s.low) + ' to ' + time(p.step_time_s.high));
card('Limit', words(p.limit.resource), percent(p.limit.share) + ' of the critical path');
card('GPU busy', percent(p.utilization.gpu_busy), (p.utilization.tensor_core > 0 ? 'tensor cores ' + percent(p.utilization.tensor_core) + (p.utilization.fp32 > 0 ? ', fp32 ' + percent(p.utilization.fp32) : '') : 'fp32 ' + percent(p.utilization.fp32)) + ', MFU ' + percent(p.utilization.mfu));
const peak = Math.max(...p.memory.gpus.map(g => g.peak_bytes));
card('Memory', bytes(peak), (p.memory.fits ? 'fits in ' : 'does not fit in ') + bytes(p.memory.capacity_bytes));
if (p.cost.usd_per_million_samples !== null) card('Cost of a million samples', digits(p.cost.usd_per_million_samples) + ' USD', digits(p.cost.usd_per_hour) + ' USD an hour');

const explain = (legend, i, text) => {
  const entry = make('span', undefined, legend);
  make('i', undefined, entry, {style: 'background:' + color(i)});
  entry.append(text);
};
const bar = (place, parts, total, show) => {
  const row = make('div', undefined, place, {class: 'bar'}), legend = make('div', undefined, place, {class: 'legend'});
  parts.forEach(([name, value], index) => {
    if (!(value > 0)) return;
    const i = name === 'free' ? -1 : index;
    make('span', undefined, row, {style: 'background:' + color(i) + ';flex:' + value / total, title: name + ' ' + show(value)});
    explain(legend, i, words(name) + ' ' + show(value) + ' (' + percent(value / total) + ')');
  });
};
bar(at('stages'), Object.entries(p.stages_s).filter(([name]) => !name.endsWith('_total')), p.step_time_s.value, time);
at('limits').textContent = p.limits.map(l => l.text).join('; ');
const gpu = p.memory.gpus.find(g => g.peak_bytes === peak), parts = Object.entries(gpu.parts_bytes).sort((a, b) => b[1] - a[1]);
bar(at('memory'), [...parts, ['free', Math.max(0, p.memory.capacity_bytes - peak)]], Math.max(peak, p.memory.capacity_bytes), bytes);

const table = (place, columns, rows) => {
  let sorted = -1, down = true;
  const head = make('tr', undefined, make('thead', undefined, place)), body = make('tbody', undefined, place);
  const fill = () => { body.replaceChildren(); for (const row of rows) { const tr = make('tr', undefined, body); for (const [, key, show] of columns) make('td', show ? show(row[key]) : row[key], tr); } };
  columns.forEach(([title, key], i) => {
    const button = make('button', title, make('th', undefined, head));
    button.onclick = () => {
      down = sorted === i ? !down : typeof rows[0][key] === 'number';
      sorted = i;
      rows.sort((a, b) => (typeof a[key] === 'number' ? a[key] - b[key] : String(a[key]).localeCompare(String(b[key]))) * (down ? -1 : 1));
      fill();
    };
  });
  fill();
};
const layers = p.layers.map(l => ({...l, all: l.forward_s + l.backward_data_s + l.backward_weights_s + l.update_s}));
table(at('layers'), [['layer', 'name'], ['kind', 'kind'], ['output', 'output_shape'], ['parameters', 'parameters'], ['forward', 'forward_s', time], ['backward, data', 'backward_data_s', time], ['backward, weights', 'backward_weights_s', time], ['update', 'update_s', time], ['all', 'all', time]], layers);
table(at('kernels'), [['kernel', 'name'], ['algorithm', 'algorithm'], ['bound', 'bound'], ['launches', 'launches'], ['time', 'time_s', time], ['share', 'time_share', percent], [p.utilization.tensor_core > 0 ? 'used' : 'fp32', 'fp32_utilization', percent]], p.kernels.groups);
for (const e of p.provenance) { const tr = make('tr', undefined, at('provenance')); for (const cell of [e.what, e.kind, e.source]) make('td', cell, tr); }
for (const notice of p.notices) make('p', 'Note: ' + notice, at('notices'), {class: 'soft'});

const w = data.timeline.words, staged = data.timeline.pipeline, rows = staged ? staged.ranks.length : 1;
// A lane of passes and one of exposed communication for each rank of a pipeline.
const lane = staged ? Math.max(10, Math.min(34, 400 / rows)) : 34, gap = staged ? lane + 14 : 42;
const letters = {F: 'forward', B: 'backward', W: 'weight gradients'};
const drawn = staged ? staged.ranks.flatMap((r, rank) => {
  const of = 'rank ' + rank + ', ', list = [];
  const bubble = (ts, dur) => { if (dur > .01) list.push({name: of + 'bubble', cat: 'bubble', kernel: '', ts, dur, row: rank}); };
  for (const [letter, part, micro, ts, dur, wait, idle, held] of r.blocks) {
    bubble(ts - idle, idle);
    list.push({name: of + letter + micro + ' of part ' + part, cat: letters[letter], kernel: ', ' + bytes(held) + ' in use', ts, dur, row: rank});
    if (wait > 0) list.push({name: of + 'waits in ' + letter + micro, cat: 'exposed communication', kernel: '', ts: ts + dur - wait, dur: wait, row: rank, thin: true});
  }
  const [xs, xd] = r.exchange, [us, ud] = r.update;
  bubble(xs + xd, us - xs - xd);
  if (xd > 0) list.push({name: of + 'gradients and weights of other copies', cat: 'exposed communication', kernel: '', ts: xs, dur: xd, row: rank, thin: true});
  if (ud > 0) list.push({name: of + 'update', cat: 'update', kernel: '', ts: us, dur: ud, row: rank});
  const left = p.step_time_s.value * 1e6 - us - ud;
  if (left > .01) list.push({name: of + 'until the next step', cat: 'waiting', kernel: ' for the slowest GPU or input', ts: us + ud, dur: left, row: rank});
  return list;
}) : null;
if (staged) at('timeline-title').textContent = 'Timeline of ' + (rows > 1 ? 'the ' + rows + ' ranks of the pipeline' : 'one GPU') + ', ' + staged.drawn;
const events = drawn || [
  ...data.timeline.kernels.map(k => ({name: w[k[0]], cat: w[k[1]], kernel: ', ' + w[k[2]] + ' ' + w[k[3]] + ' (' + w[k[4]] + ')', ts: k[5], dur: k[6], tid: 0})),
  ...data.timeline.exchanges.map((x, i) => ({name: 'bucket ' + i, cat: 'exchange', kernel: '', ts: x[0], dur: x[1], tid: 1}))];
const step = p.step_time_s.value * 1e6, busy = Math.max(...events.map(e => e.ts + e.dur), 1), end = Math.max(step, busy);
if (step > busy && !staged) events.push({name: 'until the next step', cat: 'waiting', kernel: ' for the exchange, other GPUs or input', ts: busy, dur: step - busy, tid: 0});
const kinds = [...new Set(events.map(e => e.cat))], svg = at('timeline'), tall = staged ? rows * gap + 30 : 110;
const shade = kind => kind === 'bubble' ? -1 : kind === 'exposed communication' ? 3 : staged ? ['forward', 'backward', 'weight gradients', '', 'update'].indexOf(kind) : kinds.indexOf(kind);
svg.setAttribute('height', tall);
kinds.forEach(kind => explain(at('kinds'), shade(kind), words(kind)));
let from = 0, to = end;
const show = () => {
  const width = svg.clientWidth || 700, scale = width / (to - from);
  svg.replaceChildren();
  svg.setAttribute('viewBox', '0 0 ' + width + ' ' + tall);
  for (const e of events) {
    if (e.ts + e.dur < from || e.ts > to) continue;
    const x = Math.max(0, (e.ts - from) * scale), w = Math.min(width, (e.ts + e.dur - from) * scale) - x;
    const y = staged ? 4 + e.row * gap + (e.thin ? lane : 0) : e.tid ? 50 : 8;
    const box = draw('rect', {x, y, width: Math.max(w, .4), height: e.thin ? 8 : lane, fill: color(shade(e.cat))}, svg);
    const told = e.name + ', ' + e.cat + ', ' + time(e.dur * 1e-6) + e.kernel;
    box.onpointerenter = box.onclick = () => { at('tip').textContent = told; };
  }
  for (let i = 0; i <= 4; i++) draw('text', {x: i * width / 4, y: tall - 6, 'text-anchor': ['start', 'middle', 'middle', 'middle', 'end'][i]}, svg, time((from + (to - from) * i / 4) * 1e-6));
};
const zoom = (factor, where) => {
  const span = Math.min(end, (to - from) * factor), middle = from + (to - from) * where;
  from = Math.max(0, Math.min(end - span, middle - span * where)); to = from + span; show();
};
const shift = share => { const span = to - from; from = Math.max(0, Math.min(end - span, from + span * share)); to = from + span; show(); };
at('in').onclick = () => zoom(.5, .5); at('out').onclick = () => zoom(2, .5);
at('left').onclick = () => shift(-.5); at('right').onclick = () => shift(.5);
at('all').onclick = () => { from = 0; to = end; show(); };
svg.onwheel = e => { if (!e.ctrlKey && !e.shiftKey) return; e.preventDefault(); zoom(e.deltaY > 0 ? 1.25 : .8, e.offsetX / svg.clientWidth); };
window.onresize = show; window.onbeforeprint = () => at('all').click(); show();

if (!staged) at('held-part').remove();
else {
  const chart = at('held'), most = Math.max(...staged.ranks.flatMap(r => r.blocks.map(b => b[7])), p.memory.capacity_bytes);
  const wide = chart.clientWidth || 700;
  chart.setAttribute('viewBox', '0 0 ' + wide + ' 180');
  const x = t => (wide - 4) * t / end, y = b => 165 - 150 * b / most;
  draw('path', {d: 'M0 ' + y(p.memory.capacity_bytes) + 'H' + wide, stroke: color(7), 'stroke-dasharray': '4 4', fill: 'none'}, chart);
  draw('text', {x: wide - 4, y: y(p.memory.capacity_bytes) - 3, 'text-anchor': 'end'}, chart, 'capacity ' + bytes(p.memory.capacity_bytes));
  staged.ranks.forEach((r, rank) => {
    if (r.blocks.length === 0) return;
    let d = 'M' + x(r.blocks[0][3]) + ' ' + y(r.blocks[0][7]);
    for (const b of r.blocks) d += 'H' + x(b[3]) + 'V' + y(b[7]);
    draw('path', {d: d + 'H' + x(end), stroke: color(rank), fill: 'none'}, chart);
    if (rank < 10) explain(at('held-ranks'), rank, 'rank ' + rank);
  });
}
const points = data.scaling.map(s => ({gpus: s.config.gpus, ...s.throughput}));
if (points.length < 2) at('scaling-part').remove();
else {
  const chart = at('scaling'), most = Math.max(...points.map(q => q.high)), last = points[points.length - 1].gpus;
  const x = g => 50 + 630 * g / last, y = v => 230 - 210 * v / most, each = points[0].value / points[0].gpus, reach = Math.min(last, most / each);
  draw('path', {d: 'M' + points.map(q => x(q.gpus) + ' ' + y(q.high)).join('L') + 'L' + [...points].reverse().map(q => x(q.gpus) + ' ' + y(q.low)).join('L') + 'Z', fill: color(0), opacity: .2}, chart);
  draw('path', {d: 'M' + x(points[0].gpus) + ' ' + y(points[0].value) + 'L' + x(reach) + ' ' + y(each * reach), stroke: color(7), 'stroke-dasharray': '4 4', fill: 'none'}, chart);
  draw('path', {d: 'M' + points.map(q => x(q.gpus) + ' ' + y(q.value)).join('L'), stroke: color(0), 'stroke-width': 2, fill: 'none'}, chart);
  let label = -1e9;
  for (const q of points) {
    draw('circle', {cx: x(q.gpus), cy: y(q.value), r: 4, fill: color(0)}, chart);
    if (x(q.gpus) - label < 60) continue;
    label = x(q.gpus);
    draw('text', {x: x(q.gpus), y: 248, 'text-anchor': 'middle'}, chart, q.gpus + ' GPU' + (q.gpus > 1 ? 's' : ''));
    draw('text', {x: x(q.gpus) - 8, y: y(q.value) - 8, 'text-anchor': 'end'}, chart, digits(q.value));
  }
}
if (data.front.length < 2) at('cost-part').remove();
else {
  at('paid').textContent = {purchase: 'bought, over three years of constant use', rent: 'rented'}[data.paid_by];
  const chart = at('cost'), choices = data.scaling.map((s, i) => ({gpus: s.config.gpus, time: 1e6 / s.throughput.value, cost: data.costs[i], front: data.front[i]}));
  const longest = Math.max(...choices.map(c => c.time)), dearest = Math.max(...choices.map(c => c.cost));
  const x = t => 60 + 600 * t / longest, y = c => 230 - 200 * c / dearest;
  draw('path', {d: 'M60 20V230H690', stroke: 'var(--line)', fill: 'none'}, chart);
  for (const c of choices) {
    draw('circle', {cx: x(c.time), cy: y(c.cost), r: 5, fill: c.front ? color(0) : 'none', stroke: color(0), 'stroke-width': 2}, chart);
    draw('text', {x: x(c.time), y: y(c.cost) - 10, 'text-anchor': 'middle'}, chart, c.gpus + ' GPU' + (c.gpus > 1 ? 's' : ''));
  }
  draw('text', {x: 690, y: 250, 'text-anchor': 'end'}, chart, 'longest ' + time(longest));
  draw('text', {x: 4, y: 14}, chart, 'dearest ' + digits(dearest) + ' USD');
}
</script></body></html>
)html";
  return kPage;
}

}  // namespace tbdsim
