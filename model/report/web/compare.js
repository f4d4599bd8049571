// The page of `compare`.
const rows = data.rows, known = rows.filter(row => !row.problem && row.throughput);
const varied = row => Object.entries(row.config.varied);
const nameOf = row => (varied(row).length === 0 ? row.inputs.hardware.name : varied(row).map(([key, value]) => (key === 'hw' ? value : key + ' ' + value)).join(', '));
/// What all candidates share is said once.
const shared = key => { const all = [...new Set(known.map(key))]; return all.length === 1 ? all[0] : undefined; };
const oneName = shared(row => row.inputs.workload.name), per = shared(row => row.throughput.input_unit) || 'sample';
heading('Comparison of ' + plural(rows.length, 'candidate') + (oneName ? ': ' + oneName : ''),
        [shared(row => row.inputs.hardware.name), shared(row => row.inputs.stack.name), shared(row => row.config.precision),
         shared(row => row.config.batch_per_gpu) && 'batch ' + shared(row => row.config.batch_per_gpu) + ' per GPU', shared(row => row.config.gpus) && plural(shared(row => row.config.gpus), 'GPU')]);
const offers = data.offers || [];
const fastest = known.filter(row => row.memory.fits).sort((a, b) => b.throughput.value - a.throughput.value)[0];
const cheapest = offers.length > 0 ? rows[offers.find(o => o.rank === 1)?.row ?? offers[0].row] : null;
cards([
  ...(fastest ? [['Fastest', nameOf(fastest), digits(fastest.throughput.value) + ' ' + per + 's/s, ' + range(digits, fastest.throughput)]] : []),
  ...(cheapest ? [['First by ' + (data.terms ? data.terms.objective : 'cost'), nameOf(cheapest), usd(offers.find(o => o.rank === 1)?.usd_per_million_samples) + ' per million samples']] : []),
  ['Set against', nameOf(rows[data.base]), plural(rows.filter((row, i) => i !== data.base && row.apart === false).length, 'candidate') + ' cannot be told apart from it'],
]);
rangeBars(section('Throughput', 'Lines: 80 % range of each prediction.'), {
  name: 'throughput', about: 'Throughput of each candidate', kind: per + 's/s', label: 'throughput',
  rows: rows.map(row => ({name: nameOf(row), value: row.throughput ? row.throughput.value : null, low: row.throughput?.low, high: row.throughput?.high,
                          text: row.problem ? 'no prediction' : row.memory.fits ? undefined : digits(row.throughput.value) + ', does not fit in memory'})),
});
const pair = sideBySide();
rangeBars(section('Speed-up against ' + nameOf(rows[data.base]), 'The range leaves out what both predictions get wrong alike.', pair), {
  name: 'speed-up', about: 'Speed-up of each candidate', kind: 'times', label: 'speed-up',
  rows: known.map(row => (row === rows[data.base] ? {name: nameOf(row), value: 1, text: 'what the others are set against', meaning: 'reference'}
                                                   : {name: nameOf(row), value: row.speedup.value, low: row.speedup.low, high: row.speedup.high})),
});
const offered = row => offers.find(o => rows[o.row] === row);
const costOf = row => (offered(row) ? offered(row).usd_per_million_samples : row.cost?.usd_per_million_samples);
const paidBy = row => (offered(row) ? offered(row).paid_by : row.cost?.basis?.includes('rent') || (row.cost?.rent && !row.cost?.purchase) ? 'rent' : 'purchase');
const priced = known.filter(row => costOf(row) !== null && costOf(row) !== undefined);
if (priced.length > 1)
  scatter(section('Cost against time of a million ' + per + 's', offers.length > 0 ? 'On the terms of this comparison, power included.' : 'Blue is bought, over three years of constant use; orange is rented. Power is excluded. Filled: on the front of time, cost and memory.', pair), {
    name: 'cost', about: 'Cost of a million samples over the time they take, for each candidate', x: {label: 'time', kind: 'time'}, y: {label: 'cost', kind: 'USD'}, extra: ['paid by'],
    points: priced.map(row => ({x: 1e6 / row.throughput.value, y: costOf(row), name: nameOf(row), colour: colour(paidBy(row) === 'rent' ? 'rented' : 'bought'),
                                symbol: paidBy(row) === 'rent' ? 'square' : 'circle', hollow: row.front === false, extra: [paidBy(row)]})),
    legend: [{colour: colour('bought'), label: 'bought', symbol: 'circle'}, {colour: colour('rented'), label: 'rented', symbol: 'square'}],
  });
if (offers.length > 0) {
  const terms = data.terms;
  stackedBars(section('What each candidate costs', terms.years + ' years, in use ' + percent(terms.duty) + ' of the time; power at ' + terms.usd_per_kwh + ' USD/kWh, ' +
                      percent(terms.cooling - 1) + ' more for cooling. Ranked by ' + terms.objective + '.'), {
    name: 'cost-parts', about: 'Parts of the cost of each candidate', kind: 'USD', label: 'total cost',
    rows: offers.map(o => ({name: o.rank + '. ' + nameOf(rows[o.row]), text: usd(o.total_usd) + (o.affordable ? '' : ', above the budget'),
                            parts: o.paid_by === 'rent' ? {rent: o.machines_usd} : {machines: o.machines_usd, host_price: o.host_usd, power: o.power_usd}})),
  });
}
stackedBars(section('Where the step goes'), {
  name: 'phases', about: 'Phases of a step of each candidate', kind: 'time', label: 'time',
  rows: known.map(row => ({name: nameOf(row), parts: Object.fromEntries(Object.entries(row.stages_s).filter(([name]) => !name.endsWith('_total')))})),
});
table(section('Candidates'), 'candidates', [
  {title: 'candidate', key: row => nameOf(row), text: true}, {title: per + 's/s', key: row => row.throughput?.value, show: digits}, {title: 'speed-up', key: row => row.speedup?.value, show: digits},
  {title: 'busy', key: row => row.utilization?.gpu_busy, show: percent}, {title: 'MFU', key: row => row.utilization?.mfu, show: percent},
  {title: 'memory', key: row => (row.memory ? most(row.memory.gpus.map(g => g.peak_bytes)) : null), show: bytes}, {title: 'J per sample', key: row => row.cost?.joule_per_sample, show: digits},
  {title: 'USD an hour', key: row => row.cost?.usd_per_hour, show: digits}, {title: 'USD per million', key: row => costOf(row), show: digits},
  {title: 'limit', key: row => (row.problem ? row.problem : words(row.limit.resource) + ' ' + percent(row.limit.share)), text: true}], rows);
const prices = priced.filter(row => row.cost && row.cost.price);
if (prices.length > 0)
  table(section('Prices'), 'prices', [{title: 'candidate', key: nameOf, text: true}, {title: 'price', key: row => row.cost.price, text: true, long: true},
                                      {title: 'date', key: row => row.cost.date, text: true}, {title: 'source', key: row => row.cost.source, text: true, long: true}], prices);
page.notices.push(...known.flatMap(row => row.notices));
ending(data.tool);
