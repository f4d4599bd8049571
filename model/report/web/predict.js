// The page of `predict`.
const p = data.prediction, step = p.step_time_s.value, peak = most(p.memory.gpus.map(gpu => gpu.peak_bytes));
heading(p.inputs.workload.name + ' on ' + p.config.gpus + ' x ' + p.inputs.hardware.device,
        [p.inputs.hardware.name, p.inputs.stack.name, p.config.precision, 'batch ' + p.config.batch_per_gpu + ' per GPU', p.config.exchange, p.config.optimizer]);
cards([
  ['Throughput', digits(p.throughput.value) + ' ' + p.throughput.input_unit + 's/s', range(digits, p.throughput)],
  ['Step time', time(step), range(time, p.step_time_s)],
  ['Limit', words(p.limit.resource), percent(p.limit.share) + ' of the critical path'],
  ['GPU busy', percent(p.utilization.gpu_busy),
   [p.utilization.tensor_core > 0 && 'tensor cores ' + percent(p.utilization.tensor_core), p.utilization.fp32 > 0 && 'fp32 ' + percent(p.utilization.fp32), 'MFU ' + percent(p.utilization.mfu)].filter(Boolean).join(', ')],
  ['Memory', bytes(peak), (p.memory.fits ? 'fits in ' : 'does not fit in ') + bytes(p.memory.capacity_bytes)],
  ...(p.cost.usd_per_million_samples === null ? [] : [['Cost of a million samples', usd(p.cost.usd_per_million_samples), usd(p.cost.usd_per_hour) + ' an hour']]),
]);

const stages = Object.fromEntries(Object.entries(p.stages_s).filter(([name, value]) => !name.endsWith('_total') && value > 0));
stackedBars(section('Where the step goes', p.limits.map(limit => limit.text).join('; ') + '.'),
            {name: 'phases', about: 'Phases of one step', kind: 'time', label: 'time', rows: [{name: 'one step', parts: stages}]});

const staged = data.timeline.pipeline, us = step * 1e6;
const shownTimeline = staged ? {events: stagedEvents(staged, us), lanes: staged.ranks.map((rank, i) => 'rank ' + i)} : kernelEvents(data.timeline, us, new Set((p.links || []).map(link => link.name)));
const ranks = shownTimeline.lanes.length;
if (shownTimeline.events.length > 0)
  timeline(section(staged ? 'Timeline of ' + (ranks > 1 ? 'the ' + ranks + ' ranks of the pipeline' : 'one GPU') + ', ' + staged.drawn : 'Timeline of one GPU'),
           {...shownTimeline, end: most([us, ...shownTimeline.events.map(e => e.ts + e.dur)])});
if (staged && staged.ranks.some(rank => rank.blocks.length > 0))
  curves(section('Memory of each rank over the schedule'), {
    name: 'memory-of-ranks', about: 'Memory of each rank over the step', step: true, x: {label: 'time', kind: 'time'}, y: {label: 'memory', kind: 'bytes'},
    rules: [{value: p.memory.capacity_bytes, label: 'capacity ' + bytes(p.memory.capacity_bytes)}],
    series: staged.ranks.slice(0, 8).map((rank, i) => ({name: 'rank ' + i, dots: false, points: rank.blocks.map(b => ({x: b[3] * 1e-6, y: b[7]}))})),
  });

const gpu = p.memory.gpus.find(g => g.peak_bytes === peak);
const parts = Object.fromEntries(Object.entries(gpu.parts_bytes).sort((a, b) => b[1] - a[1]));
stackedBars(section('Memory of a GPU'), {
  name: 'memory', about: 'Memory of the GPU that needs most, by part', kind: 'bytes', label: 'memory',
  note: 'The GPU that needs most' + (gpu.low_bytes ? '; 80 % range ' + bytes(gpu.low_bytes) + ' to ' + bytes(gpu.high_bytes) : '') + '.',
  rows: [{name: 'GPU ' + gpu.gpu, parts: {...parts, free: Math.max(0, p.memory.capacity_bytes - peak)}, text: bytes(peak) + ' of ' + bytes(p.memory.capacity_bytes)}],
});

const groups = p.kernels.groups, kernelPart = sideBySide();
rangeBars(section('The kernels that take longest', 'All launches of a kind together.', kernelPart), {
  name: 'kernels', about: 'Time of the kernels that take longest', kind: 'time', label: 'time in a step',
  rows: groups.slice(0, 15).map(g => ({name: words(g.name + (g.algorithm ? ', ' + g.algorithm : '')), value: g.time_s, text: time(g.time_s) + ', ' + percent(g.time_share),
                                       meaning: {memory: 'gpu_memory_bandwidth', launch: 'gpu_launch'}[g.bound] || 'gpu_compute'})),
  legend: [{colour: colour('gpu_compute'), label: 'bound by arithmetic'}, {colour: colour('gpu_memory_bandwidth'), label: 'by memory'}, {colour: colour('gpu_launch'), label: 'by its start'}],
});
/// Points of the roofline: kinds of kernels by FLOP per byte and FLOP per second, their size by time.
const rooflinePoints = () => {
  const kinds = new Map(), w = data.timeline.words;
  for (const [, , name, algorithm, bound, , dur, flop, moved] of data.timeline.kernels) {
    const key = w[name] + (w[algorithm] ? ', ' + w[algorithm] : '');
    const kind = kinds.get(key) || {name: words(key), time: 0, flop: 0, moved: 0, bound: w[bound]};
    kind.time += dur * 1e-6;
    kind.flop += flop;
    kind.moved += moved;
    kinds.set(key, kind);
  }
  return [...kinds.values()].filter(kind => kind.flop > 0 && kind.moved > 0 && kind.time > 0).sort((a, b) => b.time - a.time).slice(0, 20);
};
const roofline = rooflinePoints();
if (roofline.length > 0) {
  const {fp32_flops: fp32, tensor_flops: tensor, memory_bytes_per_s: memory} = data.roofs;
  const roof = (top, name) => ({name, points: [.3 * Math.min(top / memory, ...roofline.map(k => k.flop / k.moved)), top / memory, Math.max(2 * top / memory, 2 * most(roofline.map(k => k.flop / k.moved)))]
                                    .map(x => ({x, y: Math.min(top, x * memory)}))});
  const roofs = [roof(fp32, 'fp32 ' + shown('flops', fp32)), ...(tensor ? [roof(tensor, 'tensor cores ' + shown('flops', tensor))] : [])];
  const right = Math.max(...roofs.map(r => r.points[2].x));
  for (const r of roofs) r.points[2].x = right;
  const lines = roofs.flatMap(r => r.points.map(q => ({...q, roof: r.name})));
  scatter(section('Roofline', 'Kinds of kernels that compute. The larger the dot, the more of the step. Lines: listed memory bandwidth and peak rates. FLOP are those of a direct convolution, so Winograd may lie above the roof.', kernelPart), {
    name: 'roofline', about: 'Rate of kernels against their arithmetic intensity, below the roofs of the GPU',
    x: {label: 'arithmetic intensity', kind: 'FLOP/B', log: 10, reach: [lines[0].x, lines[2].x]},
    y: {label: 'rate', kind: 'flops', log: 10, reach: [.4 * Math.min(...roofline.map(k => k.flop / k.time)), 2 * most([...lines.map(q => q.y), ...roofline.map(k => k.flop / k.time)])]},
    points: roofline.map((kind, i) => ({x: kind.flop / kind.moved, y: kind.flop / kind.time, name: kind.name, short: i < 6 ? kind.name : null,
                                        r: 3 + 9 * Math.sqrt(kind.time / step), colour: colour(kind.bound === 'memory' ? 'gpu_memory_bandwidth' : 'gpu_compute')})),
    behind: (fx, fy) => [Plot.lineY(lines, {x: q => q.x / fx, y: q => q.y / fy, z: 'roof', stroke: colour('reference'), strokeWidth: 1.5, clip: true}),
                         Plot.text(roofs, {x: r => r.points[2].x / fx, y: r => r.points[2].y / fy, text: 'name', textAnchor: 'end', dy: -7, fontSize: 11, ariaDescription: 'names of lines', stroke: 'var(--plot-background)', fill: 'currentColor'})],
  });
}

if (data.scaling.length > 1) {
  const first = data.scaling[0], each = first.throughput.value / first.config.gpus;
  const pair = sideBySide();
  curves(section('Scaling', undefined, pair), {
    name: 'scaling', about: 'Throughput over the number of GPUs', x: {label: 'GPUs', kind: '', ticks: data.scaling.map(s => s.config.gpus)},
    y: {label: 'throughput', kind: p.throughput.input_unit + 's/s'}, note: 'Band: 80 % range.',
    series: [{name: 'predicted', meaning: 'predicted', points: data.scaling.map(s => ({x: s.config.gpus, y: s.throughput.value, low: s.throughput.low, high: s.throughput.high}))}],
    dashed: [{name: 'every GPU as fast as with the fewest', points: data.scaling.map(s => ({x: s.config.gpus, y: each * s.config.gpus}))}],
  });
  if (data.costs.length > 1)
    scatter(section('Time and cost of a million samples', undefined, pair), {
      name: 'cost', about: 'Cost over time of a million samples, for each number of GPUs', x: {label: 'time', kind: 'time'}, y: {label: 'cost', kind: 'USD'},
      note: 'Every point is ' + {purchase: 'bought, over three years of constant use', rent: 'rented'}[data.paid_by] + '. Filled: no other point is better in time, cost and memory together.',
      points: data.scaling.map((s, i) => ({x: 1e6 / s.throughput.value, y: data.costs[i], name: plural(s.config.gpus, 'GPU'), hollow: !data.front[i]})),
    });
}

const layers = p.layers.map(l => ({...l, all_s: l.forward_s + l.backward_data_s + l.backward_weights_s + l.update_s}));
table(section('Layers'), 'layers', [
  {title: 'layer', key: 'name', text: true}, {title: 'kind', key: 'kind', show: words, text: true}, {title: 'output', key: 'output_shape'}, {title: 'parameters', key: 'parameters'},
  {title: 'forward', key: 'forward_s', show: time}, {title: 'backward, data', key: 'backward_data_s', show: time}, {title: 'backward, weights', key: 'backward_weights_s', show: time},
  {title: 'update', key: 'update_s', show: time}, {title: 'all', key: 'all_s', show: time}], layers);
table(section('Kernels'), 'kernel-list', [
  {title: 'kernel', key: 'name', show: words, text: true}, {title: 'algorithm', key: 'algorithm', show: words, text: true}, {title: 'bound', key: 'bound', text: true}, {title: 'launches', key: 'launches'},
  {title: 'time', key: 'time_s', show: time}, {title: 'share', key: 'time_share', show: percent}, {title: p.utilization.tensor_core > 0 ? 'used' : 'fp32', key: 'fp32_utilization', show: percent}], groups);
if (p.links && p.links.length > 0)
  table(section('Links', 'What the exchange of gradients puts on each link in a step.'), 'links', [
    {title: 'link', key: 'name', text: true}, {title: 'capacity', key: 'capacity_bytes_per_s', show: rate}, {title: 'bytes', key: 'bytes', show: bytes},
    {title: 'busy', key: 'busy', show: percent}, {title: 'used', key: 'used', show: percent}], p.links);
sources(p.provenance);
ending(p.tool);
