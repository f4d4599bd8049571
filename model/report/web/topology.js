// The page of `topology`: the drawn graph with what rings load, copies between pairs, routes, a collective over sizes.
const gpus = data.gpus, rings = data.rings || [], set = data.ring_set;
heading('Wiring of ' + data.hardware, [gpus.length + ' x ' + data.device, data.collective && data.collective + ' with NCCL ' + data.nccl]);
const direct = data.pairs.filter(pair => pair.nvlinks > 0);
cards([
  ['Peer access', data.peer_pairs + ' of ' + data.pairs.length, 'ordered pairs of GPUs'],
  ...(set && rings.length > 0 ? [['Rings', plural(rings.length, 'ring'), rate(set.bandwidth_bytes_per_s) + ' together' + (set.over_nvlink ? ', over NVLink' : ', over PCIe')]] : []),
  ['Pairs with NVLink', String(direct.length / 2), direct.length > 0 ? 'of ' + data.pairs.length / 2 + ', up to ' + Math.max(...direct.map(p => p.nvlinks)) + ' links' : 'none'],
]);
/// Rings that pass from one GPU to another, in either direction.
const load = (a, b) => rings.reduce((n, ring) => n + ring.filter((gpu, i) => { const next = ring[(i + 1) % ring.length]; return (gpu === a && next === b) || (gpu === b && next === a); }).length, 0);
const drawGraph = width => {
  const side = Math.min(width, 520), middle = side / 2, reach = middle - 40;
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  for (const [key, value] of Object.entries({width, height: side, viewBox: '0 0 ' + width + ' ' + side, 'font-size': 12})) svg.setAttribute(key, value);
  const place = i => { const turn = 2 * Math.PI * (i + .5) / gpus.length - Math.PI / 2; return [width / 2 + reach * Math.cos(turn), middle + reach * Math.sin(turn)]; };
  const pairs = data.pairs.filter(p => gpus.indexOf(p.from) < gpus.indexOf(p.to));
  const crossing = {PIX: 'sand', PXB: 'sand', PHB: 'grey', NODE: 'grey', SYS: 'pale'};
  const labels = [], radius = gpus.length > 8 ? 14 : 22;
  for (const wired of [false, true])
    for (const p of pairs.filter(pair => (pair.nvlinks > 0) === wired)) {
      const [x1, y1] = place(gpus.indexOf(p.from)), [x2, y2] = place(gpus.indexOf(p.to)), passing = load(p.from, p.to);
      if (!wired && direct.length > 0 && passing === 0) continue;  // by way of the host; the table has it
      draw('path', {d: 'M' + x1 + ' ' + y1 + 'L' + x2 + ' ' + y2, stroke: wired ? 'var(--' + (passing > 0 ? 'red' : 'blue') + ')' : 'var(--' + (crossing[p.pcie] || 'grey') + ')',
                    'stroke-width': wired ? Math.min(8, 1 + 1.5 * (p.nvlinks > 4 ? 1 : p.nvlinks)) : 1.5, 'stroke-opacity': .85, fill: 'none'}, svg);
      if (gpus.length <= 8 && wired && direct.length <= 40) labels.push({p, passing, text: p.nvlinks + (passing > 0 ? ' / ' + passing : ''), x1, y1, x2, y2});
    }
  const taken = gpus.map((gpu, i) => { const [x, y] = place(i); return {x, y, wide: 2 * radius, high: 2 * radius}; });
  // Short lines first: they leave the least choice.
  labels.sort((a, b) => Math.hypot(a.x2 - a.x1, a.y2 - a.y1) - Math.hypot(b.x2 - b.x1, b.y2 - b.y1));
  for (const {p, passing, text, x1, y1, x2, y2} of labels) {
    const wide = text.length * 6 + 2, high = 13;
    // Long lines meet in the middle.
    const spot = (Math.hypot(x2 - x1, y2 - y1) < reach * 1.2 ? [.5, .4, .6, .32, .68] : [.3, .7, .36, .64, .25, .75, .42, .58]).map(at => ({x: x1 + (x2 - x1) * at, y: y1 + (y2 - y1) * at, wide, high}))
                     .find(s => !taken.some(t => Math.abs(s.x - t.x) < (s.wide + t.wide) / 2 && Math.abs(s.y - t.y) < (s.high + t.high) / 2));
    if (!spot) continue;  // the table has it
    taken.push(spot);
    const label = draw('text', {x: spot.x, y: spot.y + 4, 'text-anchor': 'middle', 'font-size': 11, fill: 'currentColor', stroke: 'var(--plot-background)', 'stroke-width': 4, 'paint-order': 'stroke'}, svg, text);
    draw('title', {}, label, p.from + ' to ' + p.to + ': ' + plural(p.nvlinks, 'NVLink') + ', ' + plural(passing, 'ring'));
  }
  gpus.forEach((gpu, i) => {
    const [x, y] = place(i);
    draw('circle', {cx: x, cy: y, r: radius, fill: 'var(--card)', stroke: 'currentColor'}, svg);
    draw('text', {x, y: y + 4, 'text-anchor': 'middle', fill: 'currentColor', 'font-size': gpus.length > 8 ? 9 : 12}, svg, gpu.replace('gpu', gpus.length > 8 ? '' : 'GPU '));
  });
  return svg;
};
const pair = sideBySide();
if (gpus.length > 1) {
  const alike = direct.length > 0 && new Set(direct.map(p => p.nvlinks)).size === 1 && direct.length === data.pairs.length;
  figure(section('The graph', direct.length === 0 ? 'No NVLink: lines are PCIe, sand below one switch, grey within a CPU, pale across CPUs.'
                 : alike && gpus.length > 2 ? 'Every pair is joined by ' + plural(direct[0].nvlinks, 'NVLink') + '.' : 'At each line with room for it: NVLinks / rings that pass. Wider: more links. Pairs without a line go through the host.', pair), {
    name: 'graph', about: 'The GPUs of the node and the links between them', columns: ['from', 'to', 'nvlinks', 'pcie', 'rings', 'copy_bytes_per_s'],
    rows: data.pairs.map(p => [p.from, p.to, p.nvlinks, p.pcie, load(p.from, p.to), p.copy_bytes_per_s]), draw: drawGraph,
    legend: [...(direct.some(p => load(p.from, p.to) > 0) ? [{colour: 'var(--red)', label: 'NVLink that rings use'}] : []), ...(direct.some(p => load(p.from, p.to) === 0) ? [{colour: 'var(--blue)', label: 'NVLink without a ring'}] : [])],
  });
}
if (gpus.length > 1 && gpus.length <= 16)
  figure(section('Copies between two GPUs', 'GB/s from row to column, alone. Staged copies, marked *, pass through host memory.', pair), {
    name: 'copies', about: 'Bandwidth of a copy between each pair of GPUs', columns: ['from', 'to', 'copy_bytes_per_s', 'contended_bytes_per_s', 'staged'],
    rows: data.pairs.map(p => [p.from, p.to, p.copy_bytes_per_s, p.copy_contended_bytes_per_s, p.copy_staged]),
    draw: width => {
      const cell = (width - 56) / gpus.length, row = Math.min(cell, 44), tall = row * gpus.length + 30, top = most(data.pairs.map(p => p.copy_bytes_per_s));
      const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg'), size = cell < 34 ? 9 : 11;
      for (const [key, value] of Object.entries({width, height: tall, viewBox: '0 0 ' + width + ' ' + tall, 'font-size': 11})) svg.setAttribute(key, value);
      gpus.forEach((gpu, i) => {
        draw('text', {x: 44, y: 24 + (i + .5) * row + 4, 'text-anchor': 'end', fill: 'currentColor'}, svg, gpu);
        draw('text', {x: 50 + (i + .5) * cell, y: 16, 'text-anchor': 'middle', fill: 'currentColor', 'font-size': size}, svg, cell < 40 ? gpu.replace('gpu', '') : gpu);
      });
      for (const p of data.pairs) {
        const x = 50 + gpus.indexOf(p.to) * cell, y = 24 + gpus.indexOf(p.from) * row, text = digits(p.copy_bytes_per_s / 1e9) + (p.copy_staged ? '*' : '');
        const box = draw('rect', {x: x + 1, y: y + 1, width: cell - 2, height: row - 2, fill: 'var(--blue)', 'fill-opacity': .08 + .55 * p.copy_bytes_per_s / top}, svg);
        draw('title', {}, box, p.from + ' to ' + p.to + ': ' + text + ' GB/s');
        const font = Math.min(size, (cell - 3) / text.length / .62);  // smaller ones cannot be read; the table below has them
        if (font >= 7) draw('text', {x: x + cell / 2, y: y + row / 2 + 4, 'text-anchor': 'middle', fill: 'currentColor', 'font-size': font}, svg, text);
      }
      return svg;
    },
  });
const way = w => w.vertices.join(' - ');
if (data.ways && data.ways.length > 0) {
  if (data.ways[0].time_s)
    rangeBars(section('Ways from ' + data.ways[0].vertices[0] + ' to ' + data.ways[0].vertices.at(-1), bytes(data.ways[0].bytes) + ' along each.'), {
      name: 'ways', about: 'Time of a transfer along each way', kind: 'time', label: 'time', rows: data.ways.map(w => ({name: w.via + ': ' + way(w), value: w.time_s, text: time(w.time_s) + ', ' + rate(w.bandwidth_bytes_per_s)})),
    });
  table(section('Ways'), 'ways', [{title: 'by way of', key: 'via', text: true}, {title: 'vertices', key: way, text: true, long: true}, {title: 'bandwidth', key: 'bandwidth_bytes_per_s', show: rate}, {title: 'latency', key: 'latency_s', show: time},
                                  {title: 'time', key: 'time_s', show: time}], data.ways);
}
if (data.collective) {
  const sides = sideBySide(), x = {label: 'message', kind: 'bytes', log: 2};
  curves(section('Bus bandwidth of ' + data.collective, undefined, sides), {
    name: 'bus-bandwidth', about: 'Bus bandwidth over the size of the message', x, y: {label: 'bus bandwidth', kind: 'rate'}, note: 'Band: 80 % range.',
    series: [{name: data.collective, meaning: 'predicted', points: data.rows.map(r => ({x: r.bytes, y: r.bus_bandwidth, low: r.bus_bandwidth * r.time_s / r.high_s, high: r.bus_bandwidth * r.time_s / r.low_s}))}],
  });
  curves(section('Time of ' + data.collective, undefined, sides), {
    name: 'collective-time', about: 'Time over the size of the message', x, y: {label: 'time', kind: 'time', log: 10}, note: 'Band: 80 % range.',
    series: [{name: data.collective, meaning: 'predicted', points: data.rows.map(r => ({x: r.bytes, y: r.time_s, low: r.low_s, high: r.high_s}))}],
  });
  table(section('Sizes'), 'sizes', [{title: 'message', key: 'bytes', show: x => (Number.isInteger(Math.log2(x)) ? binaryBytes(x) : bytes(x))}, {title: 'time', key: 'time_s', show: time}, {title: 'algorithm bandwidth', key: 'algorithm_bandwidth', show: rate},
                                    {title: 'bus bandwidth', key: 'bus_bandwidth', show: rate}, {title: 'algorithm', key: 'algorithm', text: true}, {title: 'protocol', key: 'protocol', text: true}], data.rows);
}
if (data.pairs.length > 0)
  table(section('Pairs'), 'pairs', [{title: 'from', key: 'from', text: true}, {title: 'to', key: 'to', text: true}, {title: 'NVLinks', key: 'nvlinks'}, {title: 'PCIe', key: 'pcie', text: true},
                                    {title: 'peer access', key: p => (p.peer_access ? 'yes' : 'no'), text: true}, {title: 'copy alone', key: 'copy_bytes_per_s', show: rate},
                                    {title: 'all at once', key: 'copy_contended_bytes_per_s', show: rate}, {title: 'relays', key: p => p.relays.join(', '), text: true}], data.pairs, 60);
ending(data.tool);
