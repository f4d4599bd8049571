// The page of `memory`: of one batch by part, time and layer; of several, a curve over them.
const config = data.config, facts = [config.stack, config.precision, config.optimizer, plural(config.gpus, 'GPU'), config.zero > 0 && 'ZeRO ' + config.zero, config.recompute !== 'none' && config.recompute && 'recompute ' + config.recompute];
const largest = memory => memory.gpus.reduce((a, b) => (b.peak_bytes > a.peak_bytes ? b : a));
heading('Memory of ' + config.model + ' on ' + config.hardware, [...facts, config.batch_per_gpu && 'batch ' + config.batch_per_gpu + ' per GPU']);
const capacity = value => ({value, label: 'capacity ' + bytes(value)});
if (data.batches) {
  const known = data.batches.filter(row => row.memory), rows = known.map(row => ({...row, gpu: largest(row.memory)}));
  const limit = known[0].memory.capacity_bytes, fits = rows.filter(row => row.memory.fits).map(row => row.batch_per_gpu);
  cards([['Largest batch of these that fits', fits.length > 0 ? String(Math.max(...fits)) : 'none', 'in ' + bytes(limit)]]);
  const pair = sideBySide();
  curves(section('Memory over the batch', 'Of the GPU that needs most. Band: 80 % range.', pair), {
    name: 'memory', about: 'Memory over the batch', x: {label: 'batch per GPU', kind: ''}, y: {label: 'memory', kind: 'bytes'}, rules: [capacity(limit)],
    series: [{name: 'predicted', meaning: 'predicted', points: rows.map(row => ({x: row.batch_per_gpu, y: row.gpu.peak_bytes, low: row.gpu.low_bytes, high: row.gpu.high_bytes}))}],
  });
  curves(section('Throughput over the batch', undefined, pair), {
    name: 'throughput', about: 'Throughput over the batch', x: {label: 'batch per GPU', kind: ''}, y: {label: 'throughput', kind: 'samples/s'},
    series: [{name: 'predicted', meaning: 'predicted', points: rows.map(row => ({x: row.batch_per_gpu, y: row.throughput_samples_per_s}))}],
  });
  table(section('Batches'), 'batches', [
    {title: 'batch per GPU', key: 'batch_per_gpu'}, {title: 'peak', key: row => row.gpu.peak_bytes, show: bytes}, {title: 'low', key: row => row.gpu.low_bytes, show: bytes}, {title: 'high', key: row => row.gpu.high_bytes, show: bytes},
    {title: 'fits', key: row => (row.memory.fits ? 'yes' : 'no'), text: true}, {title: 'chance of fitting', key: row => row.gpu.probability_of_fitting, show: percent},
    {title: 'step', key: row => row.step_time_s?.value, show: time}, {title: 'samples/s', key: 'throughput_samples_per_s', show: digits}], rows);
} else {
  const memory = data.memory, gpu = largest(memory), limit = memory.capacity_bytes;
  cards([
    ['Peak', bytes(gpu.peak_bytes), range(bytes, {low: gpu.low_bytes, high: gpu.high_bytes})],
    [memory.fits ? 'Fits' : 'Does not fit', 'in ' + bytes(limit), memory.fits ? bytes(limit - gpu.peak_bytes) + ' free' : bytes(gpu.excess_bytes) + ' too much'],
    ['Chance of fitting', percent(gpu.probability_of_fitting), 'from the range of the prediction'],
    ...(data.peak ? [['The peak is in', data.peak.layer, words(data.peak.pass)]] : []),
    ...(data.max_batch_per_gpu ? [['Largest batch per GPU', String(data.max_batch_per_gpu), data.max_batch ? '80 % range ' + data.max_batch.low + ' to ' + data.max_batch.high : '']] : []),
  ]);
  const sorted = parts => Object.fromEntries(Object.entries(parts).sort((a, b) => b[1] - a[1]));
  const alike = memory.gpus.filter((g, i) => memory.gpus.findIndex(o => JSON.stringify({...o, gpu: 0}) === JSON.stringify({...g, gpu: 0})) === i);
  stackedBars(section('What fills the memory'), {
    name: 'parts', about: 'Memory of each GPU by part', kind: 'bytes', label: 'memory', limit: capacity(limit),
    note: alike.length < memory.gpus.length ? 'GPUs with the same figures are drawn once.' : '',
    rows: alike.map(g => ({name: 'GPU ' + g.gpu, parts: sorted(g.parts_bytes), text: bytes(g.peak_bytes) + ' of ' + bytes(limit)})),
  });
  if (data.timeline && data.timeline.length > 1)
    curves(section('Memory in use over the step', 'Arrays in use while each kernel runs, in the order of the step: forward, backward, update.'), {
      name: 'over-time', about: 'Memory in use over one step', step: true, x: {label: 'kernel of the step', kind: ''}, y: {label: 'memory in use', kind: 'bytes'},
      series: [...new Set(data.timeline.map(t => words(t.pass).startsWith('backward') ? 'backward' : t.pass))].map(pass => ({
        name: words(pass), meaning: pass, dots: false,
        points: data.timeline.map((t, i) => ({x: i, y: t.live_bytes, pass: t.pass})).filter(t => (t.pass.startsWith('backward') ? 'backward' : t.pass) === pass)})),
    });
  const pair = sideBySide();
  if (data.types && data.types.length > 0)
    stackedBars(section('By type of layer', undefined, pair), {
      name: 'types', about: 'Memory by type of layer', kind: 'bytes', label: 'memory', rows: data.types.slice(0, 12).map(t => ({name: words(t.type) + (t.layers > 0 ? ', ' + plural(t.layers, 'layer') : ''), parts: t.parts_bytes})),
    });
  if (data.layers && data.layers.length > 0)
    stackedBars(section('The layers that hold most', undefined, pair), {
      name: 'layers', about: 'Memory of the layers that hold most', kind: 'bytes', label: 'memory', rows: data.layers.slice(0, 12).map(l => ({name: l.name + ', ' + words(l.kind), parts: l.parts_bytes})),
    });
  if (data.reductions && data.reductions.length > 0)
    rangeBars(section('What would need less'), {
      name: 'reductions', about: 'Memory after each change that needs less', kind: 'bytes', label: 'peak memory',
      rows: data.reductions.map(r => ({name: r.what, value: r.peak_bytes, text: bytes(r.peak_bytes) + ', ' + bytes(r.gain_bytes) + ' less' + (r.fits ? '' : ', does not fit')})),
    });
  if (data.layers && data.layers.length > 0)
    table(section('Layers'), 'layer-list', [
      {title: 'layer', key: 'name', text: true}, {title: 'kind', key: 'kind', show: words, text: true}, {title: 'output', key: 'output_shape'}, {title: 'memory', key: 'total_bytes', show: bytes},
      {title: 'feature maps', key: l => l.parts_bytes.feature_maps, show: bytes}, {title: 'weights', key: l => l.parts_bytes.weights, show: bytes}], data.layers);
}
page.notices.push(...(data.notices || []));
ending(data.tool);
