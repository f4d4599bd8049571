// The page of `validate`: predicted against measured, errors by group, claims.
const found = data.accuracy, known = found.rows.filter(row => !row.skipped && row.predicted !== null && row.predicted !== undefined);
const inside = row => row.low <= row.measured && row.measured <= row.high;
const claims = found.claims || [], claimCount = found.claim_count;
/// Claims that a constant was set by, or that hold whatever is predicted, count for nothing.
const aside = claims.filter(c => c.use === 'fit' || c.use === 'trivial'), counted = claims.filter(c => !aside.includes(c)), asideFailing = aside.filter(c => !c.holds).length;
heading('Predicted against measured', [data.of > 0 && plural(data.of, 'row'), claims.length > 0 && plural(claims.length, 'claim')]);
cards([
  ...(found.all.n > 0 ? [['Mean error', percent(found.mean_of_groups), 'of the time, mean of ' + plural(found.groups.length, 'group') + '; median of rows ' + percent(found.all.median_ape)],
                         ['Bias', percent(found.bias_of_groups), 'of the time, mean of signed errors'], ['Inside the 80 % range', percent(found.all.coverage), 'of ' + plural(found.all.n, 'row')],
                         ['Simplest model', found.all.baseline_mean_ape === null ? '-' : percent(found.all.baseline_mean_ape), 'mean error of the time with one constant utilisation']] : []),
  ...(claimCount ? [['Claims', claimCount.hold + ' of ' + claimCount.counted + ' hold', [claimCount.counted - claimCount.hold > 0 && claimCount.counted - claimCount.hold + ' fail',
                      aside.length > 0 && plural(aside.length, 'other') + ' not counted' + (asideFailing > 0 ? ', of which ' + asideFailing + (asideFailing === 1 ? ' fails' : ' fail') : '')].filter(Boolean).join('; ')]] : []),
]);
const pair = sideBySide();
const titled = text => text[0].toUpperCase() + text.slice(1);
/// Throughput first, then what has most rows.
const kinds = [...new Set(known.map(row => row.metric + ', ' + row.unit))].map(unit => ({unit, n: known.filter(row => row.metric + ', ' + row.unit === unit).length, first: unit.startsWith('throughput')}))
                  .sort((a, b) => b.first - a.first || b.n - a.n).map(kind => kind.unit);
for (const unit of kinds.slice(0, 6)) {
  const rows = known.filter(row => row.metric + ', ' + row.unit === unit && row.measured > 0 && row.predicted > 0);
  if (rows.length < 2) continue;
  const values = rows.flatMap(row => [row.measured, row.predicted]), low = Math.min(...values) / 1.3, high = most(values) * 1.3;
  const kind = {s: 'time', bytes: 'bytes', 'bytes/s': 'rate'}[rows[0].unit] || rows[0].unit;
  const paint = row => (row.use !== 'validation' ? colour('fit') : inside(row) ? colour('predicted') : colour('outside'));
  scatter(section(titled(words(rows[0].metric).replace(/ (s|bytes)$/, '')) + (kinds.filter(other => other.startsWith(rows[0].metric + ', ')).length > 1 ? ', ' + rows[0].unit : ''), plural(rows.length, 'row') + '. Lines through points: 80 % range. Dashed: predicted 20 % above and below measured.', pair), {
    name: 'predicted-against-measured-' + words(unit).replaceAll(/\W+/g, '-'), about: 'Predicted against measured ' + words(unit),
    sameUnit: true, x: {label: 'measured', kind, log: 10, reach: [low, high]}, y: {label: 'predicted', kind, log: 10, reach: [low, high]},
    points: rows.map(row => ({x: row.measured, y: row.predicted, name: row.id, short: null, r: rows.length > 200 ? 2.2 : 3.5, colour: paint(row), hollow: row.use !== 'validation',
                              symbol: row.use === 'validation' && !inside(row) ? 'triangle' : 'circle', extra: [row.low, row.high, row.use]})),
    extra: ['low', 'high', 'use'],
    legend: [{colour: colour('predicted'), label: 'range holds the measurement', symbol: 'circle'}, {colour: colour('outside'), label: 'does not', symbol: 'triangle'},
             ...(rows.some(row => row.use !== 'validation') ? [{colour: colour('fit'), label: 'set a constant, not counted', symbol: 'circle'}] : [])],
    behind: (fx, fy) => [
      ...[[1, undefined], [1.2, '4 4'], [1 / 1.2, '4 4']].map(([by, dash]) => Plot.lineY([low, high], {x: v => v / fx, y: v => v * by / fy, stroke: colour('reference'), strokeDasharray: dash, clip: true})),
      Plot.link(rows, {x1: row => row.measured / fx, x2: row => row.measured / fx, y1: row => row.low / fy, y2: row => row.high / fy, stroke: paint, clip: true, strokeOpacity: rows.length > 200 ? .2 : .5}),
    ],
  });
}
const groups = [...found.groups].filter(g => g.n > 0).sort((a, b) => b.mean_ape - a.mean_ape);
if (groups.length > 0)
  rangeBars(section('Mean error by group', 'Of the time, of rates as well; of bytes where the row has bytes.' + (groups.length > 40 ? ' The 40 largest of ' + groups.length + '.' : '')), {
    name: 'errors', about: 'Mean error of each group', kind: 'percent', label: 'mean error of the time',
    rows: groups.slice(0, 40).map(g => ({name: g.group, value: g.mean_ape, text: percent(g.mean_ape) + ', bias ' + percent(g.bias) + ', ' + plural(g.n, 'row') + ', ' + percent(g.coverage) + ' inside'})),
  });
const side = x => (typeof x === 'string' ? x : digits(x));
const claimTable = (title, note, name, list) => {
  if (list.length === 0) return;
  table(section(title, note), name, [
    {title: 'claim', key: 'id', text: true, long: true}, {title: 'verdict', key: c => (c.holds ? 'holds' : 'fails') + (c.use === 'validation' ? '' : ', ' + c.use), text: true}, {title: 'points', key: 'points'},
    {title: 'left', key: 'left', show: side}, {title: 'right', key: 'right', show: side}, {title: 'expression', key: 'expr', text: true, long: true}, {title: 'source', key: 'source', text: true, long: true}],
        [...list].sort((a, b) => a.holds - b.holds));
};
claimTable('Claims', 'Those that fail first.', 'claims', counted);
claimTable('Claims that are not counted', 'A constant was fitted to them, or they hold whatever is predicted.', 'claims-not-counted', aside);
if (found.rows.length > 0)
  table(section('Rows', 'Of time: the error of the time, as cards and groups count it; of a rate it is measured / predicted - 1.' +
                (found.rows.length < data.of ? ' ' + found.rows.length + ' of ' + data.of + ' rows, evenly chosen; errors of groups are of all.' : '')), 'rows', [
    {title: 'row', key: 'id', text: true}, {title: 'group', key: 'group', text: true}, {title: 'use', key: 'use', text: true}, {title: 'metric', key: 'metric', text: true}, {title: 'measured', key: 'measured', show: digits},
    {title: 'predicted', key: 'predicted', show: digits}, {title: 'low', key: 'low', show: digits}, {title: 'high', key: 'high', show: digits}, {title: 'unit', key: 'unit', text: true}, {title: 'of time', key: 'time_error', show: percent},
    {title: 'not predicted because', key: row => row.skipped || '', text: true}], found.rows);
ending(found.tool);
