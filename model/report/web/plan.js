// The page of `plan`: the best layouts, the frontier of time, cost and energy, memory against time, runs, other clusters.
const rows = data.rows, best = rows[0];
const place = row => plural(row.config.gpus, 'GPU') + ' of ' + row.inputs.hardware.name;
const several = new Set(rows.map(place)).size > 1;
const machines = [...new Set(rows.map(row => row.inputs.hardware.name))], machineOf = row => machines.indexOf(row.inputs.hardware.name);
const look = row => (machines.length > 1 ? {colour: seriesColour(machineOf(row)), symbol: seriesSymbol(machineOf(row))} : {});
const legend = machines.length > 1 ? machines.map((machine, i) => ({colour: seriesColour(i), symbol: seriesSymbol(i), label: machine})) : [];
const axes = ['tensor', 'context', 'expert', 'pipeline', 'data'];
const layoutOf = row => {
  const l = row.config.layout;
  const parts = axes.filter(axis => l[axis] > 1).map(axis => axis + ' ' + l[axis]);
  if (l.schedule) parts.push(l.schedule + (l.virtual_stages > 1 ? ', ' + l.virtual_stages + ' parts' : ''));
  if (l.zero > 0) parts.push('ZeRO ' + l.zero);
  if (l.recompute !== 'none') parts.push('recompute ' + l.recompute);
  parts.push(l.micro_batches + ' x ' + plural(l.micro_batch, 'sample'));
  if (row.tried) parts.push(row.tried);
  return parts.join(', ');
};
const nameOf = (row, i) => (several ? place(row) : (i + 1) + '. ' + layoutOf(row));
const shortOf = (row, i) => (several ? String(row.config.gpus) : String(i + 1));
const peak = row => most(row.memory.gpus.map(g => g.peak_bytes));
const unit = best.throughput.parts ? best.throughput.parts.unit : best.throughput.unit;
const rateOf = row => (row.throughput.parts ? row.throughput.parts.value : row.throughput.value) / row.config.gpus;
const counts = data.counts;
heading('Plan: ' + best.inputs.workload.name,
        [several ? plural(new Set(rows.map(place)).size, 'cluster') : place(best), best.inputs.stack.name, best.config.precision, best.config.global_batch + ' samples an update', best.config.sample]);
cards([
  ['Best by ' + data.objective, several ? place(best) : layoutOf(best), several ? layoutOf(best) : time(best.step_time_s.value) + ', ' + range(time, best.step_time_s)],
  ['Each GPU', digits(rateOf(best)) + ' ' + unit, percent(best.utilization.mfu) + ' of its arithmetic (MFU), ' + bytes(peak(best)) + ' of memory'],
  ['Searched', plural(counts.tried, 'layout'), (counts.slow ? counts.slow + ' slower than those kept, ' : '') + counts.out_of_memory + ' out of memory, ' + (counts.tried - (counts.slow || 0) - counts.out_of_memory) + ' left' + (data.interrupted ? '; interrupted' : '')],
]);
rangeBars(section('Step time', 'Lines: 80 % range.' + (rows.some((row, i) => i > 0 && !row.apart) ? ' ' + plural(rows.filter((row, i) => i > 0 && !row.apart).length, 'row') + ' cannot be told apart from the best.' : '')), {
  name: 'step-time', about: 'Step time of each row', kind: 'time', label: 'step time',
  rows: rows.map((row, i) => ({name: nameOf(row, i), value: row.step_time_s.value, low: row.step_time_s.low, high: row.step_time_s.high})),
});
/// Figures that are all alike lie side by side: their axis begins near them.
const near = list => (several ? {} : {log: 10, reach: [.99 * Math.min(...list), 1.01 * most(list)]});
/// Rows by time and one more figure. Filled: on the front of time, cost and energy.
const frontier = (title, note, name, y, of, parent) => {
  const known = rows.map((row, i) => [row, i]).filter(([row]) => of(row) !== null && of(row) !== undefined);
  if (known.length < 2) return;
  const x = best.run ? {label: 'time of the run', kind: 'time', of: row => row.run.elapsed_time_s.value} : {label: 'time of a million samples', kind: 'time', of: row => 1e6 / row.throughput.value};
  scatter(section(title, note, parent), {
    name, about: title + ', for each row', x: {...x, ...near(known.map(([row]) => x.of(row)))}, y: {...y, ...near(known.map(([row]) => of(row)))}, extra: ['front'],
    points: known.map(([row, i]) => ({x: x.of(row), y: of(row), name: nameOf(row, i), short: shortOf(row, i), hollow: several && !row.front, extra: [row.front], ...look(row)})), legend,
  });
};
const filled = several ? 'Filled: no other row is better in time, cost and energy together. Numbers are GPUs.' : 'Numbers are rows.';
const pair = sideBySide();
if (best.run) {
  frontier('Cost against time', filled, 'cost', {label: 'cost of the run', kind: 'thousand USD'}, row => (row.run.usd === null ? null : row.run.usd / 1e3), pair);
  frontier('Energy against time', filled, 'energy', {label: 'energy of the run', kind: 'MWh'}, row => (row.run.energy_j === null ? null : row.run.energy_j / 3.6e9), pair);
} else {
  frontier('Cost against time', filled, 'cost', {label: 'cost of a million samples', kind: 'USD'}, row => row.cost.usd_per_million_samples, pair);
  frontier('Energy against time', filled, 'energy', {label: 'energy of a sample', kind: 'J'}, row => row.cost.joule_per_sample, pair);
}
/// Boards with as much memory are one line.
const boards = [...new Map(rows.map(row => [row.memory.capacity_bytes, row])).entries()].map(([capacity, row]) => ({
  capacity, label: bytes(capacity) + (machines.length > 1 ? ', ' + [...new Set(rows.filter(r => r.memory.capacity_bytes === capacity).map(r => r.inputs.hardware.name))].join(', ') : ' of a board'),
  colour: machines.length > 1 ? look(row).colour : 'currentColor'}));
if (rows.length > 1)
  scatter(section('Memory against time', 'Of the GPU that needs most; ' + bytes(best.memory.capacity_bytes) + ' can be used' + (several ? ' on the best. Numbers are GPUs.' : '. Numbers are rows.') + ' Dashed: the memory of a board.'), {
    name: 'memory', about: 'Memory against step time of each row', x: {label: 'step time', kind: 'time', ...near(rows.map(row => row.step_time_s.value))}, y: {label: 'memory', kind: 'bytes'},
    points: rows.map((row, i) => ({x: row.step_time_s.value, y: peak(row), name: nameOf(row, i), short: shortOf(row, i), ...look(row)})), legend,
    behind: (fx, fy) => boards.flatMap(board => [
      Plot.ruleY([board.capacity / fy], {stroke: board.colour, strokeDasharray: '4 3'}),
      Plot.text([board], {y: b => b.capacity / fy, text: 'label', frameAnchor: 'right', textAnchor: 'end', dy: -8, fontSize: 11, ariaDescription: 'names of lines', stroke: 'var(--plot-background)', fill: 'currentColor'}),
    ]),
  });
table(section('Rows', 'Best first.'), 'rows', [
  {title: '', key: row => rows.indexOf(row) + 1}, ...(several ? [{title: 'cluster', key: place, text: true}] : []),
  {title: 'layout', key: layoutOf, text: true, long: true}, {title: 'step', key: row => row.step_time_s.value, show: time}, {title: 'behind', key: 'behind', show: percent},
  {title: unit + ' each', key: rateOf, show: digits}, {title: 'MFU', key: row => row.utilization.mfu, show: percent}, {title: 'memory', key: peak, show: bytes},
  {title: 'USD per million', key: row => row.cost.usd_per_million_samples, show: digits}, {title: 'J per sample', key: row => row.cost.joule_per_sample, show: digits},
  {title: 'limit', key: row => words(row.limit.resource) + ' ' + percent(row.limit.share), text: true}], rows);
const alike = rows.filter(row => row.folded && row.folded.virtual_stages.length > 0);
if (alike.length > 0)
  table(section('Left out beside these', 'Layouts that differ from a row in the parts of the network on each rank alone.'), 'left-out', [
    {title: 'row', key: row => rows.indexOf(row) + 1}, {title: 'parts', key: row => row.folded.virtual_stages.join(', '), text: true}, {title: 'up to slower', key: row => row.folded.behind, show: percent}], alike);
table(section('Commands', 'Each row in full.'), 'commands', [{title: 'row', key: row => rows.indexOf(row) + 1}, {title: 'command', key: 'command', text: true, long: true}], rows);
if (best.run)
  table(section('Runs', digits(best.run.tokens) + ' tokens each, with interruptions and checkpoints.'), 'runs', [
    {title: '', key: row => rows.indexOf(row) + 1}, {title: several ? 'cluster' : 'layout', key: several ? place : layoutOf, text: true, long: true}, {title: 'time', key: row => row.run.elapsed_time_s.value, show: time},
    {title: 'goodput', key: row => row.run.goodput.share, show: percent}, {title: 'MW', key: row => (row.run.building_power_w === null ? null : row.run.building_power_w / 1e6), show: digits},
    {title: 'MWh', key: row => (row.run.energy_j === null ? null : row.run.energy_j / 3.6e9), show: digits}, {title: 'USD', key: row => row.run.usd, show: digits}, {title: 'spare nodes', key: row => row.run.spare_nodes}], rows);
const again = (data.again || []).filter(one => one.command);
if (again.length > 0) {
  rangeBars(section('After planning again', 'Gain by ' + data.objective + ' over the best row with one thing changed and all layouts searched anew; as it was: with the layout of the best row.'), {
    name: 'again', about: 'Gain of each change', kind: 'percent', label: 'gain',
    rows: again.map(one => ({name: one.change, value: one.gain, text: percent(one.gain) + '; as it was ' + percent(one.gain_of_same_layout)})),
  });
  table(section('Best layouts of these'), 'again', [{title: 'change', key: 'change', text: true}, {title: 'gain', key: 'gain', show: percent}, {title: 'as it was', key: 'gain_of_same_layout', show: percent},
                                                   {title: 'command', key: 'command', text: true, long: true}], again);
}
page.notices.push(...data.problems, ...best.notices);
ending(data.tool);
