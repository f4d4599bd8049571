// The page of `explain`.
const config = data.config, inputs = data.inputs, failed = data.checks.filter(check => !check.passed);
heading('What limits ' + inputs.workload.name + ' on ' + config.gpus + ' x ' + inputs.hardware.device + (data.measured ? ', and why it is slower' : ''),
        [inputs.hardware.name, inputs.stack.name, config.precision, 'batch ' + config.batch_per_gpu + ' per GPU', config.exchange, config.optimizer, config.sample]);
const first = data.what_ifs.filter(w => w.kind !== 'hardware' && w.gain > 0)[0], together = data.together;
const gained = gain => (gain < 0 ? '' : '+') + digits(100 * gain) + ' %';
const misfit = w => (w.fits ? '' : ', does not fit in memory');
cards([
  ['Step time', time(data.step_time_s.value), range(time, data.step_time_s)],
  ['Limit', words(data.limits[0].resource), percent(data.limits[0].share) + ' of the critical path'],
  ['Checks', failed.length === 0 ? 'all healthy' : failed.length + ' of ' + data.checks.length + ' fail', failed.map(check => check.name).join(', ')],
  ...(first ? [['First setting to try', gained(first.gain) + ' throughput', first.text + ' (' + first.name + ')' + misfit(first)]] : []),
  ...(together ? [['The best settings together', gained(together.gain) + ' throughput', 'a step of ' + time(together.step_time_s.value) + misfit(together)]] : []),
]);
if (data.measured) {
  const measured = data.measured, unit = measured.unit;
  const jobOf = d => d.text + (d.amount ? ' (' + d.amount + ')' : ''), causeOf = d => d.cause + ': ' + jobOf(d);
  /// How near the step with this cause comes to the measured one.
  const fitOf = d => (Math.abs(d.off) < .005 ? 'as measured' : 'a step ' + percent(Math.abs(d.off)) + (d.off > 0 ? ' longer' : ' shorter') + ' than measured') + (d.in_range ? '' : ', outside the range');
  rangeBars(section('Measured against predicted', (measured.slower >= 1 ? 'The step takes ' + digits(measured.slower) + ' times as long as predicted.' : 'The step takes ' + digits(measured.slower) + ' of the predicted time.') +
                    (measured.expected ? ' That lies within the range: nothing has to be wrong.' : '')), {
    name: 'measured', about: 'Measured speed, predicted speed, and the speed that each cause would give', kind: unit, label: 'speed',
    rows: [{name: 'measured', value: measured.value, meaning: 'measured', text: measured.text}, {name: 'predicted', value: measured.predicted.value, low: measured.predicted.low, high: measured.predicted.high},
           ...data.diagnosis.map(d => ({name: causeOf(d), value: d.speed.value, low: d.speed.low, high: d.speed.high, meaning: 'reference'}))],
  });
  if (data.diagnosis.length > 0)
    table(section('Causes that would explain it', 'Weight: the share of belief among the causes that are modelled. Unexplained: ' + percent(data.unexplained) + '.'), 'causes', [
      {title: 'cause', key: 'cause', text: true}, {title: 'the job', key: jobOf, text: true, long: true}, {title: 'weight', key: 'weight', show: percent}, {title: 'would give', key: d => d.speed.value, show: x => digits(x) + ' ' + unit},
      {title: 'fit', key: fitOf, text: true, long: true}, {title: 'test that would confirm it', key: 'test', text: true, long: true}], data.diagnosis);
  if (data.not_the_cause.length > 0) make('p', 'Unlikely or impossible here: ' + data.not_the_cause.join(', ') + '.', mainPart, {class: 'soft'});
}
rangeBars(section('Shares of the critical path'), {
  name: 'limits', about: 'What the critical path of the step waits for', kind: 'percent', label: 'share of the critical path',
  rows: data.limits.map(limit => ({name: words(limit.resource), value: limit.share, meaning: limit.resource})),
});
const helpful = data.what_ifs.filter(w => w.gain > .001 && w.step_time_s);
const gainBars = (kind, title, note) => {
  const rows = helpful.filter(w => (w.kind === 'hardware') === (kind === 'hardware')).slice(0, 15);
  if (rows.length === 0) return;
  rangeBars(section(title, note, pair), {
    name: 'gains-' + kind, about: title + ': gain of each', kind: 'percent', label: 'gain in throughput',
    rows: rows.map(w => ({name: w.text + ' (' + w.name + ')', value: w.gain, meaning: kind, text: gained(w.gain) + ', ' + time(w.step_time_s.value) + misfit(w)})),
  });
};
const pair = sideBySide();
gainBars('setting', 'Settings that would help', '--what-if NAME applies one in any verb.');
gainBars('hardware', 'Other hardware that would help');
if (together) {
  const part = section('The best settings together', gained(together.gain) + ' throughput, a step of ' + time(together.step_time_s.value) + ' (' + range(time, together.step_time_s) + ')' + misfit(together) +
                       ', then limited by ' + words(together.limit.resource) + ' ' + percent(together.limit.share) + '. Add to the command:');
  make('pre', together.options.join(' '), part, {id: 'together'});
}
table(section('Checks'), 'checks', [{title: 'check', key: 'name', text: true}, {title: 'result', key: c => (c.passed ? 'healthy' : 'fails'), text: true}, {title: 'found', key: 'text', text: true, long: true}], data.checks);
/// Changes that do not apply to this job have no figures.
const applied = w => !w.problem;
table(section('All changes that were tried'), 'changes', [
  {title: 'change', key: 'name', text: true}, {title: 'what', key: 'text', text: true, long: true}, {title: 'kind', key: 'kind', text: true}, {title: 'gain', key: 'gain', show: percent}, {title: 'step', key: w => w.step_time_s?.value, show: time},
  {title: 'fits', key: w => (applied(w) ? (w.fits ? 'yes' : 'no') : ''), text: true}, {title: 'then limited by', key: w => (applied(w) ? words(w.limit.resource) + ' ' + percent(w.limit.share) : plainly(w.problem)), text: true, long: true}], data.what_ifs);
if (data.mixed_precision)
  table(section('What mixed precision does for each layer'), 'mixed-precision', [
    {title: 'layer', key: 'name', text: true}, {title: 'kind', key: 'kind', text: true}, {title: 'before', key: 'before_s', show: time}, {title: 'after', key: 'after_s', show: time},
    {title: 'times faster', key: l => l.before_s / l.after_s, show: digits}, {title: 'tensor cores', key: l => (l.tensor_core ? 'yes' : 'no'), text: true}, {title: 'what is in the way', key: l => l.obstacle || '', text: true, long: true}],
        data.mixed_precision.layers);
ending(data.tool);
