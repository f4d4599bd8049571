// The plots of the pages. Each axis has a label with its unit, each prediction its range where it is known.
const tick = x => {
  const size = Math.abs(x);
  if (size >= 1e13 || (x !== 0 && size < 1e-3)) return x.toExponential(0);
  const [factor, letter] = size >= 1e9 ? [1e9, 'G'] : size >= 1e6 ? [1e6, 'M'] : size >= 1e4 ? [1e3, 'k'] : [1, ''];
  return +(x / factor).toPrecision(6) + letter;
};
const axis = (label, more) => ({label, labelAnchor: 'center', labelArrow: 'none', tickFormat: tick, grid: true, ...more});
const basic = {style: 'background:var(--plot-background);color:inherit;font-size:12px;overflow:visible', color: {type: 'identity'}};
/// Ticks of an axis of logarithms: powers of ten, with 2 and 5 between where there is room for so many.
const logTicks = (list, few = 8) => {
  const known = list.filter(x => x > 0), low = Math.log10(Math.min(...known)), high = Math.log10(most(known)), from = Math.floor(low + 1e-9), to = Math.ceil(high - 1e-9);
  const between = [[1, 2, 5], [1, 3]].find(steps => (high - low) * steps.length <= 2 * few) || [1], every = Math.max(1, Math.ceil((high - low) / (2 * few)));
  const all = [];
  for (let power = from; power <= to; power += every) for (const by of every > 1 ? [1] : between) all.push(+(by * 10 ** power).toPrecision(3));
  return all;
};
/// Scale and marks of an axis. On an axis of powers of ten each tick is labelled; Plot's own axes leave labels out.
const axisOf = (letter, {label, ...scale}) => {
  if (scale.type !== 'log' || scale.base === 2) return {scale: axis(label, scale), marks: []};
  const {ticks, ...rest} = scale;
  return {scale: {...rest, axis: null},
          marks: [Plot['grid' + letter](ticks), Plot['axis' + letter](ticks, {label, labelAnchor: 'center', labelArrow: 'none', text: tick})]};
};
const ticksFor = width => Math.max(3, Math.round(width / 110));
/// Sizes of messages, which are powers of two: each tick in the unit that suits it.
const binaryBytes = x => {
  const power = Math.min(4, Math.floor(Math.log2(Math.max(1, x)) / 10 + 1e-9));
  return digits(x / 1024 ** power) + ' ' + ['B', 'KiB', 'MiB', 'GiB', 'TiB'][power];
};
const binaryTicks = (list, few) => {
  const from = Math.log2(Math.min(...list)), to = Math.log2(most(list)), every = [1, 2, 5, 10, 20].find(step => (to - from) / step <= few) || 40;
  const all = [];
  for (let power = Math.ceil(from / every - 1e-9) * every; power <= to + 1e-9; power += every) all.push(2 ** power);
  return all.length > 0 ? all : list;
};
/// Of ticks that the data give those that have room for their figures, the largest first.
const roomy = (ticks, log, width) => {
  const at = x => (log ? Math.log(x) : x), low = log ? at(Math.min(...ticks)) : Math.min(0, ...ticks), scale = (width - 76) / (at(most(ticks)) - low || 1);
  let free = Infinity;
  return [...ticks].sort((a, b) => b - a).filter(x => {
    const half = tick(x).length * 3.6 + 3, middle = (at(x) - low) * scale;
    if (middle + half > free) return false;
    free = middle - half;
    return true;
  });
};
/// The unit of an axis: of its largest figure, on an axis of logarithms of the one in the middle.
const unitOf = (side, values) => {
  if (!side.log) return unitFor(side.kind, most(values));
  const sorted = values.filter(x => x > 0).sort((a, b) => a - b);
  return unitFor(side.kind, sorted[Math.floor(sorted.length / 2)] ?? 1);
};
const clipped = (text, room) => (text.length * 6.9 > room ? text.slice(0, Math.max(6, Math.floor(room / 6.9) - 1)) + '\u2026' : text);
const most = list => list.reduce((a, b) => (b > a ? b : a), 0);
/// Rows of a chart that has one bar each: their names stand above the bars, so that long ones fit a phone. Where a name and its
/// figures do not fit in a line, all rows have two. marks: a function of the insets of the bars and how far they lie below the
/// middle of their row.
const rowChart = (width, rows, x, marks) => {
  const two = rows.some(row => (row.name.length + String(row.text).length + 2) * 6.9 > width - 20), tall = two ? 52 : 36;
  const above = tall - 17, below = 5;
  return Plot.plot({
    ...basic, width, height: tall * rows.length + 48, marginLeft: 10, marginRight: 22, marginTop: 2, marginBottom: 44,
    x: {...x, ticks: ticksFor(width)},
    y: {axis: null, domain: rows.map((row, i) => i), padding: 0},
    marks: [
      ...marks({insetTop: above, insetBottom: below}, (above - below) / 2),
      Plot.text(rows, {y: (row, i) => i, text: row => (two ? clipped(String(row.text), width - 14) : row.text), frameAnchor: two ? 'left' : 'right', textAnchor: two ? 'start' : 'end',
                       dy: two ? -1 : -9, fill: 'var(--soft)'}),
      Plot.text(rows, {y: (row, i) => i, text: row => clipped(row.name, width - 14), frameAnchor: 'left', textAnchor: 'start', dy: two ? -17 : -9, fill: 'currentColor'}),
    ],
  });
};

/// Bars with ranges. spec: figure's, kind (of unit), label, rows: [{name, value, low, high, meaning, text}].
const rangeBars = (place, spec) => {
  const [factor, unit] = unitFor(spec.kind, most(spec.rows.map(row => Math.abs(row.value))));
  const rows = spec.rows.map(row => ({...row, text: row.text || shown(spec.kind, row.value) +
                                                  (row.low === undefined ? '' : ' (' + digits(row.low / factor) + ' to ' + digits(row.high / factor) + ')')}));
  figure(place, {
    ...spec, columns: ['name', 'value', 'low', 'high', 'unit'],
    rows: rows.map(row => [row.name, row.value / factor, row.low / factor || '', row.high / factor || '', unit]),
    draw: width => rowChart(width, rows, axis(spec.label + ', ' + unit, {nice: true}), (insets, down) => [
      Plot.barX(rows.filter(row => row.value !== null), {x1: 0, x2: row => row.value / factor, y: row => rows.indexOf(row), fill: row => colour(row.meaning || 'predicted'), ...insets}),
      Plot.link(rows.filter(row => row.low !== undefined && row.low !== null), {
        x1: row => row.low / factor, x2: row => row.high / factor, y1: row => rows.indexOf(row), y2: row => rows.indexOf(row), dy: down, stroke: 'currentColor',
        strokeWidth: 1.5, marker: 'tick'}),
    ]),
  });
};

/// Bars made of parts. spec: figure's, kind, label, rows: [{name, parts: {meaning: value}, text}], limit: {value, label}.
const stackedBars = (place, spec) => {
  const keys = [...new Set(spec.rows.flatMap(row => Object.keys(row.parts)))].filter(key => spec.rows.some(row => row.parts[key] > 0));
  const total = row => Object.values(row.parts).reduce((a, b) => a + b, 0);
  const [factor, unit] = unitFor(spec.kind, most(spec.rows.map(total)));
  const rows = spec.rows.map(row => ({...row, text: row.text || shown(spec.kind, total(row))}));
  const pieces = rows.flatMap((row, i) => {
    let from = 0;
    return keys.filter(key => row.parts[key] > 0).map(key => ({i, key, from: from / factor, to: (from += row.parts[key]) / factor}));
  });
  const single = rows.length === 1;
  figure(place, {
    ...spec, columns: ['name', ...keys.map(key => key + ', ' + unit)], rows: rows.map(row => [row.name, ...keys.map(key => (row.parts[key] || 0) / factor)]),
    legend: keys.map(key => ({colour: colour(key), label: words(key) + (single ? ' ' + shown(spec.kind, rows[0].parts[key]) : '')})),
    draw: width => rowChart(width, rows, axis(spec.label + ', ' + unit), insets => [
      Plot.barX(pieces, {x1: 'from', x2: 'to', y: 'i', fill: piece => colour(piece.key), title: piece => words(piece.key) + ' ' + shown(spec.kind, (piece.to - piece.from) * factor),
                         stroke: 'var(--plot-background)', strokeWidth: .8, ...insets}),
      ...(spec.limit ? [Plot.ruleX([spec.limit.value / factor], {stroke: 'currentColor', strokeDasharray: '4 3'}),
                        Plot.text([spec.limit], {x: limit => limit.value / factor, text: 'label', frameAnchor: 'bottom', textAnchor: 'end', dx: -4, dy: -2, fontSize: 11})] : []),
    ]),
  });
};

/// Curves with ranges. spec: figure's, x: {label, kind, log, ticks}, y: {label, kind, log}, series: [{name, points: [{x, y, low, high}],
/// meaning, dots}], dashed: [{name, points}] for what the curves are set against.
const curves = (place, spec) => {
  const dashed = spec.dashed || [];
  const all = spec.series.flatMap(series => series.points);
  const binary = spec.x.kind === 'bytes' && spec.x.log === 2;
  const [xFactor, xUnit] = binary ? [1, 'B'] : unitOf(spec.x, all.map(p => p.x));
  const [yFactor, yUnit] = unitOf(spec.y, all.map(p => p.y));
  const top = most([...all.map(p => Math.max(p.y, p.high || 0)), ...(spec.rules || []).map(rule => rule.value)]) / yFactor * 1.05;
  const paint = series => (series.meaning ? colour(series.meaning) : seriesColour(spec.series.indexOf(series)));
  const flat = spec.series.flatMap((series, i) => series.points.map(p => ({
    ...p, series: series.name, i, paint: paint(series), x: p.x / xFactor, y: p.y / yFactor,
    low: p.low === undefined ? undefined : p.low / yFactor, high: p.high === undefined ? undefined : p.high / yFactor})));
  const against = dashed.flatMap(series => series.points.map(p => ({series: series.name, x: p.x / xFactor, y: p.y / yFactor})));
  const ends = flat.flatMap(p => [p.y, p.low ?? p.y, p.high ?? p.y]).filter(y => y > 0), reach = [Math.min(...ends), most(ends)];
  const yScale = spec.y.log === 10 ? {domain: reach, ticks: logTicks(reach).filter(y => y >= reach[0] && y <= reach[1])} : spec.y.log ? {ticks: 5} : {domain: [0, top], ticks: 5};
  const label = (name, unit) => (unit ? name + ', ' + unit : name);
  figure(place, {
    ...spec, columns: ['series', label(spec.x.label, xUnit), label(spec.y.label, yUnit), 'low', 'high'],
    rows: [...flat, ...against].map(p => [p.series, p.x, p.y, p.low, p.high]),
    legend: [...(spec.series.length > 1 ? spec.series.map((series, i) => ({colour: paint(series), label: series.name, symbol: series.dots === false ? undefined : seriesSymbol(i)})) : []),
             ...dashed.map(series => ({colour: colour('reference'), label: series.name, dashed: true}))],
    draw: width => {
      const x = axisOf('X', {label: label(spec.x.label, binary ? '' : xUnit), type: spec.x.log ? 'log' : 'linear', base: spec.x.log === 2 ? 2 : 10, grid: false, tickFormat: binary ? binaryBytes : tick,
                             ticks: spec.x.ticks ? roomy(spec.x.ticks, spec.x.log, width) : (binary ? binaryTicks(flat.map(p => p.x), ticksFor(width)) : ticksFor(width))});
      const y = axisOf('Y', {label: label(spec.y.label, yUnit), type: spec.y.log ? 'log' : 'linear', base: spec.y.log === 2 ? 2 : 10, ...yScale});
      return Plot.plot({
        ...basic, width, height: Math.min(340, Math.max(240, width * .55)), marginLeft: 58, marginBottom: 44, marginRight: 18, marginTop: 12, x: x.scale, y: y.scale,
        marks: [
          ...x.marks, ...y.marks,
          spec.y.log ? null : Plot.ruleY([0]),
          ...(spec.rules || []).map(rule => Plot.ruleY([rule.value / yFactor], {stroke: 'currentColor', strokeDasharray: '4 3'})),
          ...(spec.rules || []).map(rule => Plot.text([rule], {y: r => r.value / yFactor, text: 'label', frameAnchor: 'right', textAnchor: 'end', dy: -8, fontSize: 11})),
          Plot.areaY(flat.filter(p => p.low !== undefined), {x: 'x', y1: 'low', y2: 'high', fill: 'paint', z: 'series', fillOpacity: .16}),
          Plot.lineY(against, {x: 'x', y: 'y', z: 'series', stroke: colour('reference'), strokeWidth: 1.5, strokeDasharray: '5 4', clip: true}),
          Plot.lineY(flat, {x: 'x', y: 'y', z: 'i', stroke: 'paint', strokeWidth: 2, curve: spec.step ? 'step-after' : 'linear'}),
          ...spec.series.map((series, i) => (series.dots === false ? null : Plot.dot(flat.filter(p => p.i === i), {
            x: 'x', y: 'y', fill: 'paint', symbol: seriesSymbol(i), r: 4, stroke: 'var(--plot-background)', strokeWidth: .5,
            title: p => p.series + '\n' + spec.x.label + ' ' + (binary ? binaryBytes(p.x) : digits(p.x) + ' ' + xUnit) + '\n' + spec.y.label + ' ' + digits(p.y) + ' ' + yUnit +
                        (p.low === undefined ? '' : '\n' + digits(p.low) + ' to ' + digits(p.high) + ' ' + yUnit), tip: true}))),
        ],
      });
    },
  });
};

/// Points with names. spec: figure's, x and y as curves', points: [{x, y, name, short, series, hollow, colour}], `short`: the name as
/// drawn, null: none; sameUnit: of both axes; behind(xFactor, yFactor): marks behind the points.
const scatter = (place, spec) => {
  const [xFactor, xUnit] = unitOf(spec.x, spec.points.map(p => p.x));
  const [yFactor, yUnit] = spec.sameUnit ? [xFactor, xUnit] : unitOf(spec.y, spec.points.map(p => p.y));
  const label = (name, unit) => (unit ? name + ', ' + unit : name);
  const points = spec.points.map(p => ({...p, x: p.x / xFactor, y: p.y / yFactor}));
  const named = points.filter(p => p.short !== null), paint = p => p.colour || colour('predicted');
  const reach = side => spec[side].reach?.map(x => x / (side === 'x' ? xFactor : yFactor)) || [Math.min(...points.map(p => p[side])) / 1.4, most(points.map(p => p[side])) * 1.4];
  const scale = (side, few) => {
    if (!spec[side].log) return {type: 'linear', zero: true, nice: true, ticks: few};
    const [low, high] = reach(side);
    if (high / low < 8) return {type: 'linear', domain: [low, high], ticks: few};
    return {type: 'log', domain: [low, high], ticks: logTicks([low, high], few).filter(x => x >= low && x <= high)};
  };
  figure(place, {
    ...spec, columns: ['name', label(spec.x.label, xUnit), label(spec.y.label, yUnit), ...(spec.extra || [])],
    rows: points.map(p => [p.name, p.x, p.y, ...(p.extra || [])]),
    draw: width => {
      const x = axisOf('X', {label: label(spec.x.label, xUnit), ...scale('x', ticksFor(width))}), y = axisOf('Y', {label: label(spec.y.label, yUnit), ...scale('y', 5)});
      return Plot.plot({
        ...basic, width, height: Math.min(spec.tall || 360, Math.max(260, width * .6)), marginLeft: 58, marginBottom: 44, marginRight: 30, marginTop: 18, x: x.scale, y: y.scale,
        marks: [
          ...x.marks, ...y.marks,
          ...(spec.behind ? spec.behind(xFactor, yFactor) : []),
          Plot.dot(points, {x: 'x', y: 'y', stroke: paint, fill: p => (p.hollow ? 'var(--plot-background)' : paint(p)), symbol: p => p.symbol || 'circle', r: p => p.r || 5, strokeWidth: 1.5,
                            title: p => p.name + '\n' + spec.x.label + ' ' + digits(p.x) + ' ' + xUnit + '\n' + spec.y.label + ' ' + digits(p.y) + ' ' + yUnit, tip: true}),
          Plot.text(named, {x: 'x', y: 'y', text: p => clipped(p.short || p.name, Math.max(240, width * .35)), dy: -11, fontSize: 11, ariaDescription: 'names', stroke: 'var(--plot-background)', fill: 'currentColor'}),
        ],
      });
    },
  });
};
