// The page of `validate`: predicted against measured, errors by group, claims.
const found = data.accuracy, known = found.rows.filter(row => !row.skipped && row.predicted !== null && row.predicted !== undefined);
const inside = row => row.low <= row.measured && row.measured <= row.high;
const claims = found.claims || [], claimCount = found.claim_count;
heading('Predicted against measured', [data.of > 0 && plural(data.of, 'row'), claims.length > 0 && plural(claims.length, 'claim')]);
cards([
  ...(found.all.n > 0 ? [['Mean error', percent(found.mean_of_groups), 'mean of ' + plural(found.groups.length, 'group') + '; median of rows ' + percent(found.all.median_ape)],
                         ['Bias', percent(found.bias_of_groups), 'mean of signed errors'], ['Inside the 80 % range', percent(found.all.coverage), 'of ' + plural(found.all.n, 'row')],
                         ['Simplest model', found.all.baseline_mean_ape === null ? '-' : percent(found.all.baseline_mean_ape), 'mean error of one constant utilisation']] : []),
  ...(claimCount ? [['Claims', claimCount.hold + ' of ' + claimCount.counted + ' hold', claims.filter(c => !c.holds).length + ' fail']] : []),
]);
const pair = sideBySide();
for (const unit of [...new Set(known.map(row => row.metric + ', ' + row.unit))].slice(0, 6)) {
  const rows = known.filter(row => row.metric + ', ' + row.unit === unit && row.measured > 0 && row.predicted > 0);
  if (rows.length < 2) continue;
  const values = rows.flatMap(row => [row.measured, row.predicted]), low = Math.min(...values) / 1.3, high = most(values) * 1.3;
  const kind = {s: 'time', bytes: 'bytes', 'bytes/s': 'rate'}[rows[0].unit] || rows[0].unit;
  const paint = row => (row.use !== 'validation' ? colour('fit') : inside(row) ? colour('predicted') : colour('outside'));
  scatter(section(words(rows[0].metric).replace(/ (s|bytes)$/, ''), plural(rows.length, 'row') + '. Lines through points: 80 % range. Dashed: predicted 20 % above and below measured.', pair), {
    name: 'predicted-against-measured-' + words(unit).replaceAll(/\W+/g, '-'), about: 'Predicted against measured ' + words(unit),
    sameUnit: true, x: {label: 'measured', kind, log: 10, reach: [low, high]}, y: {label: 'predicted', kind, log: 10, reach: [low, high]},
    points: rows.map(row => ({x: row.measured, y: row.predicted, name: row.id, short: ' ', r: rows.length > 200 ? 2.2 : 3.5, colour: paint(row), hollow: row.use !== 'validation',
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
  rangeBars(section('Mean error by group', groups.length > 40 ? 'The 40 largest of ' + groups.length + '.' : undefined), {
    name: 'errors', about: 'Mean error of each group', kind: 'percent', label: 'mean absolute error',
    rows: groups.slice(0, 40).map(g => ({name: g.group, value: g.mean_ape, text: percent(g.mean_ape) + ', bias ' + percent(g.bias) + ', ' + plural(g.n, 'row') + ', ' + percent(g.coverage) + ' inside'})),
  });
if (claims.length > 0)
  table(section('Claims'), 'claims', [
    {title: 'claim', key: 'id', text: true, long: true}, {title: 'verdict', key: c => (c.holds ? 'holds' : 'fails') + (c.use === 'validation' ? '' : ', ' + c.use), text: true}, {title: 'points', key: 'points'},
    {title: 'left', key: 'left', show: digits}, {title: 'right', key: 'right', show: digits}, {title: 'expression', key: 'expr', text: true, long: true}, {title: 'source', key: 'source', text: true, long: true}], claims);
if (found.rows.length > 0)
  table(section('Rows', found.rows.length < data.of ? found.rows.length + ' of ' + data.of + ', evenly chosen; errors of groups are of all.' : undefined), 'rows', [
    {title: 'row', key: 'id', text: true}, {title: 'group', key: 'group', text: true}, {title: 'use', key: 'use', text: true}, {title: 'metric', key: 'metric', text: true}, {title: 'measured', key: 'measured', show: digits},
    {title: 'predicted', key: 'predicted', show: digits}, {title: 'low', key: 'low', show: digits}, {title: 'high', key: 'high', show: digits}, {title: 'unit', key: 'unit', text: true}, {title: 'error', key: 'error', show: percent},
    {title: 'not predicted because', key: row => row.skipped || '', text: true}], found.rows);
ending(found.tool);
