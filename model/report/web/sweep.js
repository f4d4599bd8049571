// The page of `sweep`: one figure over each option that is a number, all points by time and cost, the front, all rows.
const rows = data.rows.map((row, i) => ({...row, front: data.front[i]})), known = rows.filter(row => row.throughput);
const options = [...new Set(rows.flatMap(row => Object.keys(row.config)))];
const values = option => [...new Set(rows.map(row => row.config[option]))];
const varied = options.filter(option => values(option).length > 1), fixed = options.filter(option => values(option).length === 1);
const number = text => (/^[0-9.]+$/.test(text) ? Number(text) : NaN);
const numeric = varied.filter(option => values(option).every(value => !Number.isNaN(number(value)))).sort((a, b) => values(b).length - values(a).length);
/// Options over which a curve says something.
const drawn = numeric.filter(option => values(option).length > 2).slice(0, 3);
const nameOf = row => varied.map(option => (numeric.includes(option) ? option + ' ' : '') + row.config[option]).join(', ') || 'the only point';
heading('Sweep of ' + plural(data.of, 'point'), fixed.map(option => option + ' ' + rows[0].config[option]));
const fitting = known.filter(row => row.memory.fits), fastest = [...fitting].sort((a, b) => b.throughput.value - a.throughput.value)[0];
const cheapest = fitting.filter(row => row.cost.usd_per_million_samples).sort((a, b) => a.cost.usd_per_million_samples - b.cost.usd_per_million_samples)[0];
cards([
  ...(fastest ? [['Fastest that fits', nameOf(fastest), digits(fastest.throughput.value) + ' ' + fastest.throughput.unit]] : []),
  ...(cheapest ? [['Cheapest sample', nameOf(cheapest), usd(cheapest.cost.usd_per_million_samples) + ' per million, ' + (cheapest.cost.paid_by === 'rent' ? 'rented' : 'bought')]] : []),
  ['Points', String(data.of), (rows.length - known.length) + ' without figures, ' + (known.length - fitting.length) + ' do not fit in memory' + (rows.length < data.of ? '; ' + rows.length + ' shown' : '')],
]);
/// A curve over one option for each combination of the others, the largest first, as many as eyes can follow.
const curvesOver = option => {
  const key = row => varied.filter(other => other !== option).map(other => (numeric.includes(other) ? other + ' ' : '') + row.config[other]).join(', ') || 'predicted';
  const names = [...new Set(known.map(key))], total = names.length, places = sideBySide();
  const wide = Math.max(...values(option).map(number)) / Math.min(...values(option).map(number)) >= 16;
  const listed = names.slice(0, 8), of = name => known.filter(row => key(row) === name).sort((a, b) => number(a.config[option]) - number(b.config[option]));
  const x = {label: words(option), kind: '', log: wide ? 2 : undefined, ticks: values(option).length <= 10 ? values(option).map(number).sort((a, b) => a - b) : undefined};
  const note = (total > 8 ? 'The first 8 of ' + total + ' curves. ' : '') + 'Bands: 80 % range.';
  curves(section('Throughput over ' + words(option), note, places), {
    name: 'throughput-over-' + option, about: 'Throughput over ' + words(option), x, y: {label: 'throughput', kind: 'samples/s'},
    series: listed.map(name => ({name, points: of(name).map(row => ({x: number(row.config[option]), y: row.throughput.value, low: row.throughput.value * row.step_time_s.value / row.step_time_s.high,
                                                                     high: row.throughput.value * row.step_time_s.value / row.step_time_s.low}))})),
  });
  curves(section('Memory over ' + words(option), 'Of the GPU that needs most.', places), {
    name: 'memory-over-' + option, about: 'Memory over ' + words(option), x, y: {label: 'memory', kind: 'bytes'},
    series: listed.map(name => ({name, points: of(name).map(row => ({x: number(row.config[option]), y: row.memory.peak_bytes}))})),
  });
};
drawn.forEach(curvesOver);
if (drawn.length === 0 && known.length > 0)
  rangeBars(section('Throughput', known.length > 40 ? 'The 40 fastest of ' + known.length + '.' : 'Lines: 80 % range.'), {
    name: 'throughput', about: 'Throughput of each point', kind: 'samples/s', label: 'throughput',
    rows: [...known].sort((a, b) => b.throughput.value - a.throughput.value).slice(0, 40).map(row => ({
      name: nameOf(row), value: row.throughput.value, low: row.throughput.value * row.step_time_s.value / row.step_time_s.high, high: row.throughput.value * row.step_time_s.value / row.step_time_s.low})),
  });
const priced = fitting.filter(row => row.cost.usd_per_million_samples);
if (priced.length > 1) {
  // Of a long front, as many names as eyes can follow.
  const leading = priced.filter(row => row.front).sort((a, b) => b.throughput.value - a.throughput.value), every = leading.length > 24 ? Math.ceil(leading.length / 12) : 1;
  const machines = [...new Set(priced.map(row => row.config.hw))], front = priced.some(row => !row.front);
  const ways = [['purchase', 'bought', 'circle'], ['rent', 'rented', 'square']].filter(([by]) => priced.some(row => (row.cost.paid_by === 'rent') === (by === 'rent')));
  const symbolOf = row => (row.cost.paid_by === 'rent' ? 'square' : 'circle');
  /// A colour for each machine, where there are several that colours can tell apart; else for how it is paid.
  const byMachine = machines.length > 1 && machines.length <= 8, paint = row => (byMachine ? seriesColour(machines.indexOf(row.config.hw)) : colour(row.cost.paid_by === 'rent' ? 'rented' : 'bought'));
  scatter(section('Cost against time of a million samples', front ? 'Filled: on the front: no other point of the same network, paid for alike, is better in time, cost and memory together. Names: of the front, as many as have room.' : undefined), {
    name: 'front', about: 'Cost against time of a million samples for each point', x: {label: 'time', kind: 'time', log: 10}, y: {label: 'cost', kind: 'USD', log: 10}, extra: ['paid by', 'front'], tall: 460,
    points: priced.map(row => ({x: 1e6 / row.throughput.value, y: row.cost.usd_per_million_samples, name: nameOf(row), short: row.front && leading.indexOf(row) % every === 0 ? nameOf(row) : null, hollow: !row.front, r: 4,
                                colour: paint(row), symbol: symbolOf(row), extra: [row.cost.paid_by, row.front]})),
    legend: [...(byMachine ? machines.map((machine, i) => ({colour: seriesColour(i), label: machine})) : []),
             ...(ways.length > 1 || !byMachine ? ways.map(([, word, symbol]) => ({colour: byMachine ? colour('reference') : colour(word), label: word, symbol})) : []),
             ...(front ? [{colour: colour('reference'), label: 'hollow: not on the front', symbol: ways[0][2], hollow: true}] : [])],
  });
}
table(section('Points', rows.length < data.of ? rows.length + ' of ' + data.of + ': the front and an even choice of the others.' : undefined), 'points', [
  ...varied.map(option => ({title: option, key: row => (numeric.includes(option) ? number(row.config[option]) : row.config[option]), text: !numeric.includes(option)})),
  {title: 'step', key: row => row.step_time_s?.value, show: time}, {title: 'samples/s', key: row => row.throughput?.value, show: digits}, {title: 'memory', key: row => row.memory?.peak_bytes, show: bytes},
  {title: 'fits', key: row => (row.memory ? (row.memory.fits ? 'yes' : 'no') : '-'), text: true}, {title: 'USD per million', key: row => row.cost?.usd_per_million_samples, show: digits},
  {title: 'front', key: row => (row.front ? 'yes' : ''), text: true}, {title: 'limit', key: row => (row.limit ? words(row.limit.resource) : row.problem), text: true}], rows);
ending(data.tool);
