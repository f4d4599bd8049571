// The page: a question in the form and in the link, its answer beside it.
'use strict';
(() => {
  const $ = id => document.getElementById(id);
  const VERBS = { predict: 'How fast?', memory: 'Does it fit?', explain: 'What would help?', compare: 'Which machine?' };
  const KINDS = ['systems', 'gpus', 'models', 'stacks', 'networks'];
  const FIELDS = [
    { name: 'hw', label: 'Machine or GPU', names: 'hw' },
    { name: 'model', label: 'Network', names: 'model' },
    { name: 'batch', label: 'Batch per GPU', number: true, empty: 'default' },
    { name: 'precision', label: 'Precision', choices: true },
    { name: 'gpus', label: 'GPUs', number: true, empty: 'all' },
    { name: 'nodes', label: 'Nodes', number: true, empty: '1' },
    { name: 'stack', label: 'Framework', names: 'stack', empty: 'newest PyTorch' },
  ];
  const FIRST = 'predict?hw=dgx1&model=resnet50';
  let known = null, question = read(location.hash), answered = '', asked = 0, busy = false, waiting = false;

  /** The question of a link: a verb and pairs. What they mean, and whether they mean anything, the predictor says. */
  function read(hash) {
    const text = hash.length > 1 ? hash.slice(1) : FIRST, mark = text.indexOf('?');
    const pairs = mark < 0 ? [] : [...new URLSearchParams(text.slice(mark + 1))];
    return { verb: mark < 0 ? text : text.slice(0, mark), pairs };
  }
  const link = q => `#${encodeURIComponent(q.verb)}?${new URLSearchParams(q.pairs)}`;
  const valueOf = name => question.pairs.find(([key]) => key === name)?.[1] ?? '';

  function quoted(word) {
    return /^[\w.,:=/@+-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
  }
  function command(q) {
    const flags = new Set((known?.options[q.verb] ?? []).filter(option => option.flag).map(option => option.name));
    const parts = q.pairs.filter(([name, value]) => !(flags.has(name) && value === 'false'))
      .map(([name, value]) => (flags.has(name) && value === 'true' ? quoted(`--${name}`) : `${quoted(`--${name}`)} ${quoted(value)}`));
    return ['tbdsim', quoted(q.verb), ...parts].join(' ');
  }

  function change(name, value) {
    const at = question.pairs.findIndex(([key]) => key === name);
    if (value === '') question.pairs = question.pairs.filter(([key]) => key !== name);
    else if (at < 0) question.pairs.push([name, value]);
    else question.pairs[at] = [name, value];
    moved();
  }
  /** The question changed in the form: the link follows. */
  function moved() {
    history.replaceState(null, '', link(question));
    drawOthers();
    ask();
  }

  // The form.
  function takes(verb, name) {
    return (known.options[verb] ?? []).some(option => option.name === name);
  }
  function field(row) {
    const id = `field-${row.name}`, option = known.options.predict.find(o => o.name === row.name);
    let input;
    if (row.choices) {
      const listed = (option.words || (option.help.match(/:([^[]*)/)?.[1] ?? '').replaceAll(',', ' ')).trim().split(/\s+/);
      input = element('select', { id, name: row.name }, element('option', { value: '' }, 'fp32'),
        ...listed.filter(word => word !== 'fp32').map(word => element('option', { value: word }, word)));
    } else {
      input = element('input', { id, name: row.name, spellcheck: 'false', placeholder: row.empty ?? '',
        ...(row.number ? { inputmode: 'numeric' } : { list: `names-${row.names}` }) });
    }
    const settled = text => text === '' || (row.number ? /^\d+$/.test(text) : row.choices || known.lists[row.names].has(text));
    input.addEventListener('input', () => settled(input.value.trim()) && change(row.name, input.value.trim()));
    input.addEventListener('change', () => input.value.trim() !== valueOf(row.name) && change(row.name, input.value.trim()));
    return element('div', { class: 'field', title: option?.help ?? '' }, element('label', { for: id }, row.label), input);
  }
  function drawFields() {
    for (const row of FIELDS) {
      const input = $(`field-${row.name}`), value = valueOf(row.name);
      if (row.choices && ![...input.options].some(o => o.value === value)) input.append(element('option', { value }, value));
      if (input !== document.activeElement || input.value.trim() !== value) input.value = value;
      input.disabled = !takes(question.verb, row.name) && value === '';
    }
    $('field-hw').previousSibling.textContent = question.verb === 'compare' ? 'Machines, with commas' : 'Machine or GPU';
  }
  function drawOthers() {
    const own = new Set(FIELDS.map(row => row.name));
    $('others').replaceChildren(...question.pairs.flatMap(([name, value], i) => own.has(name) && question.pairs.findIndex(([key]) => key === name) === i ? [] : [
      element('div', { class: 'chip' }, element('code', {}, `${name}=${value}`),
        Object.assign(element('button', { type: 'button', 'aria-label': `Remove ${name}` }, '×'), { onclick: () => {
          question.pairs.splice(i, 1);
          moved();
        } }))]));
    $('names-option').replaceChildren(...(known.options[question.verb] ?? []).filter(o => !own.has(o.name) && !['format', 'trace', 'report', 'prices'].includes(o.name))
      .map(o => element('option', { value: o.flag ? `${o.name}=true` : `${o.name}=` }, o.help)));
  }
  function drawVerbs() {
    $('verbs').replaceChildren(...Object.entries(VERBS).map(([verb, text]) => {
      const pairs = question.pairs.filter(([name]) => takes(verb, name)).map(([name, value]) =>
        [name, name === 'hw' && verb === 'compare' && !value.includes(',') ? [...new Set([value, 'dgx-a100-80gb', 'titan-xp'])].join(',') :
          name === 'hw' && verb !== 'compare' ? value.split(',')[0] : value]);
      return element('a', { href: link({ verb, pairs }), ...(verb === question.verb ? { 'aria-current': 'page' } : {}) }, text, element('small', {}, verb));
    }));
  }
  function draw() {
    drawVerbs();
    drawFields();
    drawOthers();
  }

  // Questions and answers, one at a time; of those that wait, the last counts.
  const worker = new Worker(URL.createObjectURL(new Blob([$('engine').textContent, '\n', $('worker').textContent], { type: 'text/javascript' })));
  worker.onmessage = ({ data }) => (data.started ? started(data) : show(data));
  worker.onerror = event => fail([`this browser cannot run the page: ${event.message}`]);
  worker.postMessage({ catalogue: JSON.parse($('catalogue').textContent), kinds: KINDS, verbs: Object.keys(VERBS) });

  function started({ names, options }) {
    const lists = { hw: [...names.systems, ...names.gpus], model: names.models, stack: names.stacks, network: names.networks };
    known = { options, lists: {} };
    for (const [list, entries] of Object.entries(lists)) {
      known.lists[list] = new Set(entries);
      $(`names-${list}`).replaceChildren(...entries.map(value => element('option', { value })));
    }
    // A model may be named without its variant.
    for (const name of names.models) known.lists.model.add(name.split('@')[0]);
    $('fields').replaceChildren(...FIELDS.map(field));
    draw();
    ask();
  }
  function ask() {
    if (!known) return;
    $('command').textContent = command(question);
    drawVerbs();
    if (busy) {
      waiting = true;
      return;
    }
    busy = true;
    $('answer').dataset.state = 'asked';
    asked += 1;
    worker.postMessage({ id: asked, verb: question.verb, options: question.pairs });
  }
  function fail(errors) {
    $('answer').dataset.state = 'refused';
    $('state').textContent = '';
    $('errors').textContent = errors.join('\n');
    $('errors').hidden = false;
    $('result').replaceChildren();
    $('notices').replaceChildren();
    answered = '';
    drawJson();
  }
  function show(reply) {
    busy = false;
    if (waiting) {
      waiting = false;
      ask();
      return;
    }
    if (reply.errors.length) return fail(reply.errors);
    answered = reply.text;
    const answer = JSON.parse(answered);
    $('errors').hidden = true;
    $('result').replaceChildren(...(DRAWN[question.verb] ?? (() => []))(answer).filter(Boolean));
    $('notices').replaceChildren(...[...new Set(reply.notices)].map(text => element('li', {}, text)));
    $('state').textContent = `Computed here in ${digits(reply.milliseconds)} ms. A range holds 80 % of measurements.`;
    drawJson();
    $('answer').dataset.state = 'answered';
  }
  function drawJson() {
    $('json').textContent = $('raw').open ? answered : '';
  }

  // What each verb's answer looks like.
  const range = (figure, shown) => `80 % range ${shown(figure.low)} to ${shown(figure.high)}`;
  const MEMORY_KINDS = { weights: 'c1', gradients: 'c2', optimizer_state: 'c3', feature_maps: 'c4', workspace: 'c5', exchange: 'c6', context: 'c7', slack: 'c8', dynamic: 'c9', input: 'c10' };
  const fullest = memory => memory.gpus.reduce((most, gpu) => (gpu.peak_bytes > most.peak_bytes ? gpu : most));
  function memoryParts(memory) {
    const gpu = fullest(memory);
    const parts = Object.entries(gpu.parts_bytes).map(([name, value]) => ({ name: words(name), value, kind: MEMORY_KINDS[name] ?? 'c7' }));
    return stack(`Memory of the fullest GPU, of ${bytes(memory.capacity_bytes)}`, parts, bytes, memory.capacity_bytes);
  }
  function memoryFigure(memory) {
    const gpu = fullest(memory);
    return ['Memory per GPU', bytes(gpu.peak_bytes), `of ${bytes(memory.capacity_bytes)}: ${memory.fits ? 'fits' : 'does not fit'}`, memory.fits ? 'good' : 'bad'];
  }
  const STAGES = [['forward', 'c1'], ['backward', 'c4'], ['weight_update', 'c3'], ['exchange_exposed', 'c2'], ['input_exposed', 'c5'], ['host_exposed', 'c6'], ['bubble', 'c7']];
  const rate = answer => value => `${digits(value)} ${answer.throughput.input_unit ? `${answer.throughput.input_unit}s/s` : answer.throughput.unit}`;
  const DRAWN = {
    predict: answer => [
      headline([
        ['Throughput', rate(answer)(answer.throughput.value), range(answer.throughput, digits)],
        ['Step time', seconds(answer.step_time_s.value), range(answer.step_time_s, seconds)],
        memoryFigure(answer.memory),
        answer.cost?.usd_per_hour ? ['Cost', `${digits(answer.cost.usd_per_hour)} USD/h`, `${digits(answer.cost.usd_per_million_samples)} USD per million samples`] : null,
      ]),
      stack('A step by stage', STAGES.map(([name, kind]) => ({ name: words(name), value: answer.stages_s[name] ?? 0, kind })), seconds),
      bars('What the step waits for: share of its critical path', answer.limits.map(limit => ({ name: words(limit.resource), value: limit.share, note: limit.text })), percent),
      memoryParts(answer.memory),
    ],
    memory: answer => (answer.batches ? [
      bars('Peak memory by batch per GPU', answer.batches.map(row => {
        const gpu = fullest(row.memory);
        return { name: String(row.batch_per_gpu), value: gpu.peak_bytes, low: gpu.low_bytes, high: gpu.high_bytes, kind: row.memory.fits ? '' : 'bad' };
      }), bytes),
    ] : [
      headline([memoryFigure(answer.memory), answer.max_batch_per_gpu ? ['Largest batch per GPU', digits(answer.max_batch_per_gpu)] : null,
        ['Peak at', answer.peak.layer || 'update', answer.peak.pass]]),
      memoryParts(answer.memory),
      bars('By type of layer', answer.types.slice(0, 8).map(type => ({ name: `${type.type} (${type.layers})`, value: type.total_bytes })), bytes),
      bars('Layers that hold most', answer.layers.slice(0, 10).map(layer => ({ name: layer.name, value: layer.total_bytes, note: `${layer.kind} ${layer.output_shape}` })), bytes),
      answer.reductions?.length ? table(['What would make room', 'gain', 'peak then'], answer.reductions.map(r => [r.what, bytes(r.gain_bytes), bytes(r.peak_bytes)])) : null,
    ]),
    explain: answer => {
      const useful = answer.what_ifs.filter(w => w.step_time_s), others = answer.what_ifs.length - useful.length;
      return [
        headline([['Step time', seconds(answer.step_time_s.value), range(answer.step_time_s, seconds)],
          ['Limited by', words(answer.limits[0].resource), `${percent(answer.limits[0].share)} of the critical path`]]),
        bars('Gain in speed, if', useful.filter(w => w.gain > 0).slice(0, 14).map(w => ({ name: w.name, value: w.gain, note: w.text, kind: w.fits === false ? 'bad' : '' })), percent),
        table(['Change', 'gain', 'step time', 'then limited by'], useful.map(w => [w.text, percent(w.gain), seconds(w.step_time_s.value), words(w.limit.resource)]), [3]),
        others > 0 ? element('p', {}, `${others} other changes have no effect on this job; the whole answer says why.`) : null,
        table(['Health', '', ''], answer.checks.map(check => [check.name, check.passed ? 'passes' : 'fails', check.text]), [1, 2]),
      ];
    },
    compare: answer => {
      const rows = answer.rows.filter(row => row.throughput);
      const named = row => Object.values(row.config.varied ?? {}).join(', ') || row.inputs.hardware.name;
      const base = answer.rows[answer.base];
      return [
        rows.length ? bars(`Throughput, with 80 % ranges`, rows.map(row => ({ name: named(row), value: row.throughput.value, low: row.throughput.low, high: row.throughput.high, kind: row.memory.fits ? '' : 'bad' })), rate(rows[0])) : null,
        table(['Candidate', 'step time', 'speed-up', 'memory', 'USD/h', 'USD per million samples'], answer.rows.map(row => (row.throughput ? [named(row), seconds(row.step_time_s.value),
          base?.throughput ? digits(row.throughput.value / base.throughput.value) : '', row.memory.fits ? percent(fullest(row.memory).peak_bytes / row.memory.capacity_bytes) : 'does not fit',
          row.cost?.usd_per_hour ? digits(row.cost.usd_per_hour) : 'no price', row.cost?.usd_per_million_samples ? digits(row.cost.usd_per_million_samples) : ''] :
          [named(row), row.problem ?? 'no figures', '', '', '', '']))),
      ];
    },
  };

  // Controls.
  $('question').addEventListener('submit', event => {
    event.preventDefault();
    const text = $('extra').value.trim().replace(/^--/, ''), mark = text.indexOf('=');
    if (text === '') return;
    const name = mark < 0 ? text : text.slice(0, mark), option = (known?.options[question.verb] ?? []).find(o => o.name === name);
    question.pairs.push([name, mark < 0 ? 'true' : text.slice(mark + 1)]);
    $('extra').value = '';
    $('hint').textContent = option?.help ?? '';
    moved();
    drawFields();
  });
  addEventListener('hashchange', () => {
    question = read(location.hash);
    if (!known) return;
    draw();
    ask();
  });
  $('raw').addEventListener('toggle', drawJson);
  const copy = async text => {
    try {
      await navigator.clipboard.writeText(text);
      $('copied').textContent = 'Copied.';
    } catch {
      $('copied').textContent = text;
    }
  };
  $('copy-command').addEventListener('click', () => copy($('command').textContent));
  $('copy-link').addEventListener('click', () => copy(location.href.split('#')[0] + link(question)));
})();
