// The page of `compare`.
const rows = data.rows, known = rows.filter(row => !row.problem && row.throughput);
/// "8 x rtx-4090" of boards, "8 GPUs of dgx1" of a system, then what else varies.
const boards = new Set(known.map(row => row.inputs.hardware).filter(hardware => hardware.name === hardware.device).map(hardware => hardware.name));
const nameOf = row => {
  const {hw, gpus, ...others} = row.config.varied;
  const machine = hw && gpus ? (boards.has(hw) ? gpus + ' x ' + hw : plural(Number(gpus), 'GPU') + ' of ' + hw) : hw || (gpus && plural(Number(gpus), 'GPU'));
  return [machine, ...Object.entries(others).map(([key, value]) => key + ' ' + value)].filter(Boolean).join(', ') || row.inputs.hardware.name;
};
/// What all candidates share is said once.
const shared = key => { const all = [...new Set(known.map(key))]; return all.length === 1 ? all[0] : undefined; };
const oneName = shared(row => row.inputs.workload.name), per = shared(row => row.throughput.input_unit) || 'sample';
heading('Comparison of ' + plural(rows.length, 'candidate') + (oneName ? ': ' + oneName : ''),
        [shared(row => row.inputs.hardware.name), shared(row => row.inputs.stack.name), shared(row => row.config.precision),
         shared(row => row.config.batch_per_gpu) && 'batch ' + shared(row => row.config.batch_per_gpu) + ' per GPU', shared(row => row.config.gpus) && plural(shared(row => row.config.gpus), 'GPU')]);
const offers = data.offers || [];
const fastest = known.filter(row => row.memory.fits).sort((a, b) => b.throughput.value - a.throughput.value)[0];
const terms = data.terms, leader = offers.find(o => o.rank === 1);
/// Why an offer has no rank.
const unranked = o => (!rows[o.row].memory.fits ? 'too big' : o.affordable ? 'not ranked' : 'too dear');
const reasons = ['too big', 'too dear', 'not ranked'].map(why => [why, new Set(offers.filter(o => o.rank === null && unranked(o) === why).map(o => o.row)).size]).filter(([, n]) => n > 0);
cards([
  ...(fastest ? [['Fastest', nameOf(fastest), digits(fastest.throughput.value) + ' ' + per + 's/s, ' + range(digits, fastest.throughput)]] : []),
  ...(leader ? [['First by ' + terms.objective, nameOf(rows[leader.row]), (leader.paid_by === 'rent' ? 'rented' : 'bought') + ', ' + usd(leader.total_usd) + ', ' + usd(leader.usd_per_million_samples) + ' per million ' + per + 's']]
             : offers.length > 0 ? [['First by ' + terms.objective, 'none', reasons.map(([why, n]) => n + ' ' + why).join(', ')]] : []),
  ['Set against', nameOf(rows[data.base]), plural(rows.filter((row, i) => i !== data.base && row.apart === false).length, 'candidate') + ' cannot be told apart from it'],
]);
rangeBars(section('Throughput', 'Lines: 80 % range of each prediction.' + (known.some(row => !row.memory.fits) ? ' Too big: does not fit in the memory of a GPU.' : '')), {
  name: 'throughput', about: 'Throughput of each candidate', kind: per + 's/s', label: 'throughput',
  rows: rows.map(row => ({name: nameOf(row), value: row.throughput ? row.throughput.value : null, low: row.throughput?.low, high: row.throughput?.high,
                          text: row.problem ? 'no prediction' : row.memory.fits ? undefined : digits(row.throughput.value) + ', too big'})),
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
const priced = known.filter(row => costOf(row) !== null && costOf(row) !== undefined), unpriced = known.filter(row => !priced.includes(row));
const powerWords = terms && terms.usd_per_kwh !== null ? 'power at ' + terms.usd_per_kwh + ' USD/kWh, ' + percent(terms.cooling - 1) + ' more for cooling' : 'power left out (--power-price)';
const affordable = row => !offered(row) || offered(row).affordable;
const shownCosts = priced.filter(row => row.memory.fits && affordable(row)).map(row => ({row, time: 1e6 / row.throughput.value, usd: costOf(row), by: paidBy(row)}));
/// No other candidate for the same work, paid for alike, is as fast for less.
const leads = a => !shownCosts.some(b => b !== a && b.by === a.by && b.row.base === a.row.base && b.time <= a.time && b.usd <= a.usd && (b.time < a.time || b.usd < a.usd));
if (shownCosts.length > 1) {
  const ways = [['purchase', 'bought', 'circle'], ['rent', 'rented', 'square']].filter(([by]) => shownCosts.some(c => c.by === by));
  const look = ([by, word, symbol]) => ({colour: colour(word), symbol, by});
  scatter(section('Cost against time of a million ' + per + 's', (terms ? terms.years + ' years, in use ' + percent(terms.duty) + ' of the time; ' + powerWords + '.' : 'What is bought is used without pause for three years; power is left out.') + ' Only what fits in memory' + (terms && terms.budget_usd !== null ? ' and in the budget.' : '.'), pair), {
    name: 'cost', about: 'Cost of a million ' + per + 's over the time they take, for each candidate that fits', x: {label: 'time', kind: 'time', log: 10}, y: {label: 'cost', kind: 'USD', log: 10}, extra: ['paid by'],
    points: shownCosts.map(c => ({x: c.time, y: c.usd, name: nameOf(c.row) + ', ' + ways.find(([by]) => by === c.by)[1], short: leads(c) ? nameOf(c.row) : null, hollow: !leads(c), extra: [c.by], ...look(ways.find(([by]) => by === c.by))})),
    legend: [...ways.map(way => ({...look(way), label: way[1] + ', on the front'})), ...(shownCosts.every(leads) ? [] : [{...look(ways[0]), hollow: true, label: 'hollow: another one is faster and cheaper'}])],
  });
}
if (offers.length > 0)
  stackedBars(section('What each candidate costs', terms.years + ' years, in use ' + percent(terms.duty) + ' of the time; ' + powerWords + (terms.budget_usd === null ? '' : '; budget ' + usd(terms.budget_usd)) +
                      '. Ranked by ' + terms.objective + '; too big: does not fit in memory; too dear: above the budget.'), {
    name: 'cost-parts', about: 'Parts of the cost of each candidate', kind: 'USD', label: 'total cost',
    rows: offers.map(o => ({name: (o.rank === null ? '' : o.rank + '. ') + nameOf(rows[o.row]), text: usd(o.total_usd) + (o.rank === null ? ', ' + unranked(o) : ''),
                            parts: o.paid_by === 'rent' ? {rent: o.machines_usd} : {machines: o.machines_usd, host_price: o.host_usd, power: o.power_usd}})),
  });
if (unpriced.length > 0)
  make('p', unpriced.map(nameOf).join('; '), section(priced.length > 0 ? 'Candidates without a price' : 'No price is known', 'They are not ranked by cost. --prices FILE adds a price.'), {id: 'unpriced'});
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
                                      {title: 'date', key: row => row.cost.date, text: true}, {title: 'source', key: row => row.cost.source, text: true, long: true, wide: true}], prices, 12);
page.notices.push(...known.flatMap(row => row.notices));
ending(data.tool);
