// The page of `network`: arrays of a job whose gradients are exchanged as a whole, axes of one whose network is divided.
const gigabits = x => (x === null || x === undefined ? 'none' : digits(8 * x / 1e9) + ' Gb/s');
heading(data.inputs.workload.name + ' on ' + plural(data.config.nodes, 'node') + ' of ' + data.inputs.hardware.name,
        [data.network, data.inputs.stack.name, data.config.precision, 'batch ' + data.config.batch_per_gpu + ' per GPU', data.config.exchange]);
const exposed = time(data.exchange_exposed_s) + ' of it waiting for the exchange';
if (data.communication) {
  cards([
    ['Step time', time(data.step_time_s), exposed],
    ...(data.network ? [['Of its speed without a network', percent(data.efficiency), (data.reaches_target ? 'reaches' : 'short of') + ' the target of ' + percent(data.target)],
                        ['Least line rate for the target', gigabits(data.least_bandwidth_for_target_bytes_per_s), 'of a port; it has ' + gigabits(data.line_rate_bytes_per_s)]] : []),
  ]);
  const pair = sideBySide();
  stackedBars(section('Time of each axis in a step', 'Exposed: what the step waits for. The rest passes while kernels run.', pair), {
    name: 'axes', about: 'Time that each axis communicates in a step', kind: 'time', label: 'time',
    rows: data.communication.map(axis => ({name: axis.axis + ', ' + plural(axis.ranks, 'GPU') + ', ' + axis.kind, parts: {exchange_exposed: axis.exposed_s, waiting: Math.max(0, axis.time_s - axis.exposed_s)},
                                           text: time(axis.exposed_s) + ' exposed of ' + time(axis.time_s)})),
    legend: [{colour: colour('exchange_exposed'), label: 'exposed'}, {colour: colour('waiting'), label: 'hidden'}],
  });
  const tiers = data.communication.flatMap(axis => axis.tiers.map(tier => ({...tier, axis: axis.axis, used: tier.bytes / tier.capacity_bytes_per_s / data.step_time_s})));
  rangeBars(section('Use of the wiring', 'The share of the step that the bytes of each axis take on each tier.', pair), {
    name: 'tiers', about: 'Share of the step that bytes take on each tier of the wiring', kind: 'percent', label: 'share of the step',
    rows: tiers.map(tier => ({name: tier.axis + ', ' + tier.tier, value: tier.used, text: percent(tier.used) + ', ' + bytes(tier.bytes), meaning: 'exchange'})),
  });
  table(section('Tiers'), 'tier-list', [
    {title: 'axis', key: 'axis', text: true}, {title: 'tier', key: 'tier', text: true}, {title: 'a GPU sends', key: 'bytes', show: bytes}, {title: 'of at most', key: 'capacity_bytes_per_s', show: rate}, {title: 'used', key: 'used', show: percent}], tiers);
} else {
  const layers = data.layers;
  cards([
    ['Step time', time(data.step_time_s), exposed],
    ['Against one node', digits(data.gain) + ' times', data.pays ? 'more nodes pay' : 'more nodes do not pay'],
    ['Efficiency', percent(data.efficiency), (data.reaches_target ? 'reaches' : 'short of') + ' the target of ' + percent(data.target)],
    ['Least network that pays', gigabits(data.least_bandwidth_bytes_per_s), 'it has ' + gigabits(data.line_rate_bytes_per_s)],
    ['Least for the target', gigabits(data.least_bandwidth_for_target_bytes_per_s), percent(data.target) + ' efficient'],
  ]);
  const inOrder = [...layers].sort((a, b) => a.send_start_s - b.send_start_s).slice(0, 60);
  const sends = inOrder.flatMap((l, i) => {
    const pull = l.receive_start_s > l.send_start_s;
    return [{name: l.name + (pull ? ', pushed' : ''), kind: 'sent', told: ', ' + bytes(l.bytes), ts: l.send_start_s * 1e6, dur: (l.send_end_s - l.send_start_s) * 1e6, lane: i},
            ...(pull ? [{name: l.name + ', pulled', kind: 'received', told: ', ' + bytes(l.bytes), ts: l.receive_start_s * 1e6, dur: (l.receive_end_s - l.receive_start_s) * 1e6, lane: i}] : [])];
  });
  const end = 1e6 * Math.max(data.step_time_s, ...inOrder.map(l => l.receive_end_s));
  timeline(section('When each array travels', 'In the order in which they begin to travel' + (layers.length > 60 ? '; the first 60 of ' + layers.length : '') + '.'),
           {events: sends, lanes: inOrder.map(l => l.name + ', ' + bytes(l.bytes)), end});
  const pair = sideBySide();
  rangeBars(section('Arrays that the step waits for', undefined, pair), {
    name: 'exposed', about: 'Time that the step waits for each array', kind: 'time', label: 'exposed time',
    rows: [...layers].sort((a, b) => b.exposed_s - a.exposed_s).filter(l => l.exposed_s > 1e-4 * data.step_time_s).slice(0, 15).map(l => ({name: l.name, value: l.exposed_s, meaning: 'exchange'})),
  });
  if (data.schedules.length > 1)
    rangeBars(section('Other ways of exchange', undefined, pair), {
      name: 'schedules', about: 'Step time with each way of exchange', kind: 'time', label: 'step time',
      rows: data.schedules.map(s => ({name: s.exchange, value: s.step_time_s, text: time(s.step_time_s) + ', ' + digits(s.gain) + ' times one node'})),
    });
  table(section('Arrays'), 'arrays', [
    {title: 'array', key: 'name', text: true}, {title: 'size', key: 'bytes', show: bytes}, {title: 'send starts', key: 'send_start_s', show: time}, {title: 'ends', key: 'send_end_s', show: time},
    {title: 'receive starts', key: 'receive_start_s', show: time}, {title: 'ends', key: 'receive_end_s', show: time}, {title: 'exposed', key: 'exposed_s', show: time}], layers);
}
ending(data.tool);
