// The page of `scale`.
const rows = data.rows, config = data.config;
const several = key => new Set(rows.map(row => row[key])).size > 1;
const seriesOf = row => [several('model') && row.model, several('exchange') && row.exchange, several('batch_per_gpu') && data.scaling !== 'fixed_global_batch' && 'batch ' + row.batch_per_gpu,
                         several('image') && row.image && 'image ' + row.image].filter(Boolean).join(', ') || row.model;
const names = [...new Set(rows.map(seriesOf))], of = name => rows.filter(row => seriesOf(row) === name);
const nodes = several('nodes') && new Set(rows.map(row => row.gpus)).size === 1;
const across = row => (nodes ? row.nodes : row.gpus), counted = nodes ? 'nodes' : 'GPUs';
const counts = [...new Set(rows.map(across))].sort((a, b) => a - b);
const wide = counts[counts.length - 1] / counts[0] > 32;
heading('Scaling of ' + [...new Set(rows.map(row => row.model))].join(', ') + ' on ' + config.hw,
        [config.stack, config.precision, !several('exchange') && config.exchange, words(data.scaling) + ' scaling', data.samples && data.samples.toLocaleString('en') + ' samples an epoch']);
const last = names.map(name => of(name).reduce((a, b) => (across(b) > across(a) ? b : a)));
cards(last.slice(0, 8).map(row => [names.length > 1 ? seriesOf(row) : 'On ' + across(row) + ' ' + counted, digits(row.speedup) + ' times faster',
                                   (row.speedup_range ? range(digits, {low: row.speedup_range.low, high: row.speedup_range.high}) + ', ' : '') + percent(row.efficiency) + ' efficient on ' + across(row) + ' ' + counted]));
const x = {label: counted, kind: '', ticks: counts, log: wide ? 2 : undefined};
const pair = sideBySide();
const base = of(names[0]).reduce((a, b) => (across(b) < across(a) ? b : a));
curves(section('Speed-up', 'Against the smallest size. Bands: 80 % range, which leaves out what both sizes get wrong alike.', pair), {
  name: 'speed-up', about: 'Speed-up over the number of ' + counted, x, y: {label: 'speed-up', kind: '', log: wide ? 2 : undefined},
  series: names.map(name => ({name, points: of(name).map(row => ({x: across(row), y: row.speedup, low: row.speedup_range?.low, high: row.speedup_range?.high}))})),
  dashed: [{name: 'ideal', points: counts.map(n => ({x: n, y: n / across(base)}))}],
});
if (rows.every(row => row.epoch_time_s))
  curves(section('Time of an epoch', 'Bands: 80 % range.', pair), {
    name: 'epoch-time', about: 'Time of an epoch over the number of ' + counted, x, y: {label: 'time', kind: 'time', log: wide ? 10 : undefined},
    series: names.map(name => ({name, points: of(name).map(row => ({x: across(row), y: row.epoch_time_s, low: row.epoch_time_range_s?.low, high: row.epoch_time_range_s?.high}))})),
  });
else
  curves(section('Time of a step', 'Bands: 80 % range.', pair), {
    name: 'step-time', about: 'Time of a step over the number of ' + counted, x, y: {label: 'time', kind: 'time'},
    series: names.map(name => ({name, points: of(name).map(row => ({x: across(row), y: row.step_time_s.value, low: row.step_time_s.low, high: row.step_time_s.high}))})),
  });
for (const name of names.slice(0, 8))
  stackedBars(section('Where the step goes' + (names.length > 1 ? ': ' + name : ''), undefined, name === names[0] || names.indexOf(name) % 2 === 0 ? (sideBySide()) : mainPart.lastElementChild), {
    name: 'phases' + (names.length > 1 ? '-' + names.indexOf(name) : ''), about: 'Phases of a step at each size' + (names.length > 1 ? ' of ' + name : ''), kind: 'time', label: 'time of a step',
    rows: of(name).map(row => ({name: plural(across(row), nodes ? 'node' : 'GPU'), parts: Object.fromEntries(Object.entries(row.stages_s).filter(([part]) => !part.endsWith('_total')))})),
  });
table(section('All sizes'), 'sizes', [
  ...(names.length > 1 ? [{title: 'job', key: row => seriesOf(row), text: true}] : []), {title: 'GPUs', key: 'gpus'}, {title: 'nodes', key: 'nodes'}, {title: 'batch per GPU', key: 'batch_per_gpu'},
  {title: 'step', key: row => row.step_time_s.value, show: time}, ...(rows[0].epoch_time_s ? [{title: 'epoch', key: 'epoch_time_s', show: time}] : []),
  {title: 'speed-up', key: 'speedup', show: digits}, {title: 'efficiency', key: 'efficiency', show: percent}, ...(rows.some(row => row.overhead !== null && row.overhead !== undefined) ? [{title: 'overhead', key: 'overhead', show: percent}] : []),
  {title: 'exposed exchange', key: row => row.stages_s.exchange_exposed, show: time}, {title: 'memory', key: 'gpu0_peak_bytes', show: bytes},
  {title: 'limit', key: row => words(row.limit.resource) + ' ' + percent(row.limit.share), text: true}], rows);
ending(data.tool);
