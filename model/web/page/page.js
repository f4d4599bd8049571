// The page: a question in the form and in the link, its answer beside it.
'use strict';
(() => {
  const $ = id => document.getElementById(id);
  const VERBS = { predict: 'How fast?', memory: 'Does it fit?', explain: 'What would help?', compare: 'Which machine?', plan: 'How to divide it?' };
  const KINDS = ['systems', 'gpus', 'models', 'stacks', 'networks'];
  const FIELDS = [
    { name: 'hw', label: 'Machine or GPU', names: 'hw' },
    { name: 'model', label: 'Network', names: 'model' },
    { name: 'batch', label: 'Batch per GPU', number: true, empty: 'default' },
    { name: 'precision', label: 'Precision', choices: { plan: 'default' } },
    { name: 'gpus', label: 'GPUs', number: true, empty: 'all' },
    { name: 'nodes', label: 'Nodes', number: true, empty: '1' },
    { name: 'global-batch', label: 'Samples an update', number: true, only: 'plan', empty: '512' },
    { name: 'seq-len', label: 'Sequence length', number: true, only: 'plan', empty: 'its own' },
    { name: 'objective', label: 'Best by', choices: {}, only: 'plan' },
    { name: 'network', label: 'Network between nodes', names: 'network', only: 'plan', empty: "the system's" },
    { name: 'stack', label: 'Framework', names: 'stack', empty: 'newest PyTorch' },
  ];
  const FIRST = 'predict?hw=dgx1&model=resnet50';
  const FIRST_PLAN = [['hw', 'dgx-h100'], ['model', 'llama-3-8b'], ['gpus', '64'], ['global-batch', '512']];
  const PATIENCE = 20000;  // milliseconds that a question may take
  const ABANDONED = 400;   // milliseconds after which a question that has changed is given up: starting again takes as long
  let known = null, question = read(location.hash), answered = '', asked = 0, busy = false, waiting = false, worker = null, since = 0;

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
  /** Whether a field stands in the form of the verb that is asked. */
  const stands = row => !row.only || row.only === question.verb;
  function field(row) {
    const id = `field-${row.name}`, option = known.options[row.only ?? 'predict'].find(o => o.name === row.name);
    let input;
    if (row.choices) {
      const [first, ...others] = (option.words || (option.help.match(/:([^[]*)/)?.[1] ?? '').replaceAll(',', ' ')).trim().split(/\s+/);
      input = element('select', { id, name: row.name }, element('option', { value: '', 'data-word': first }, first),
        ...others.map(word => element('option', { value: word }, word)));
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
      input.parentNode.hidden = !stands(row);
      if (row.choices) {
        // What an empty choice means depends on the verb.
        input.options[0].textContent = row.choices[question.verb] ?? input.options[0].dataset.word;
        if (![...input.options].some(o => o.value === value)) input.append(element('option', { value }, value));
      }
      if (input !== document.activeElement || input.value.trim() !== value) input.value = value;
      input.disabled = !takes(question.verb, row.name) && value === '';
    }
    $('field-hw').previousSibling.textContent = question.verb === 'compare' ? 'Machines, with commas' : 'Machine or GPU';
    $('field-stack').placeholder = question.verb === 'plan' ? 'Megatron' : 'newest PyTorch';
  }
  function drawOthers() {
    const own = new Set(FIELDS.filter(stands).map(row => row.name));
    $('others').replaceChildren(...question.pairs.flatMap(([name, value], i) => own.has(name) && question.pairs.findIndex(([key]) => key === name) === i ? [] : [
      element('div', { class: 'chip' }, element('code', {}, `${name}=${value}`),
        Object.assign(element('button', { type: 'button', 'aria-label': `Remove ${name}` }, '×'), { onclick: () => {
          question.pairs.splice(i, 1);
          moved();
        } }))]));
    $('names-option').replaceChildren(...(known.options[question.verb] ?? []).filter(o => !own.has(o.name) && !['format', 'trace', 'report', 'prices', 'output', 'join'].includes(o.name))
      .map(o => element('option', { value: o.flag ? `${o.name}=true` : `${o.name}=` }, o.help)));
  }
  /** The question with another verb, as far as that takes its options. */
  function turned(verb) {
    if (verb === question.verb) return question.pairs;
    const pairs = question.pairs.filter(([name, value]) => takes(verb, name) && !(name === 'objective' && verb === 'compare' && value === 'goodput'))
      .map(([name, value]) => [name, name === 'hw' && verb === 'compare' && !value.includes(',') ? [...new Set([value, 'dgx-a100-80gb', 'titan-xp'])].join(',') :
        name === 'hw' && verb !== 'compare' ? value.split(',')[0] : value]);
    if (verb !== 'plan') return pairs;
    // The network of the first question is no job to divide.
    const first = new URLSearchParams(FIRST.slice(FIRST.indexOf('?')));
    if (['', first.get('model')].includes(valueOf('model')))
      return ['', first.get('hw')].includes(valueOf('hw')) ? FIRST_PLAN
        : FIRST_PLAN.filter(([name]) => name !== 'gpus').map(([name, value]) => [name, name === 'hw' ? valueOf('hw').split(',')[0] : value]);
    const missing = FIRST_PLAN.filter(([name]) => name === 'global-batch' && valueOf(name) === '');
    return [...pairs.filter(([name]) => name !== 'batch'), ...missing];
  }
  function drawVerbs() {
    $('verbs').replaceChildren(...Object.entries(VERBS).map(([verb, text]) =>
      element('a', { href: link({ verb, pairs: turned(verb) }), ...(verb === question.verb ? { 'aria-current': 'page' } : {}) }, text, element('small', {}, verb))));
  }
  function draw() {
    drawVerbs();
    drawFields();
    drawOthers();
  }

  // Questions and answers, one at a time; of those that wait, the last counts. A long one ends with its worker.
  const script = URL.createObjectURL(new Blob([$('engine').textContent, '\n', $('worker').textContent], { type: 'text/javascript' }));
  const catalogue = JSON.parse($('catalogue').textContent);
  function start() {
    worker?.terminate();
    worker = new Worker(script);
    worker.onmessage = ({ data }) => (data.started ? started(data) : show(data));
    worker.onerror = event => fail([`this browser cannot run the page: ${event.message}`]);
    worker.postMessage({ catalogue, kinds: KINDS, verbs: Object.keys(VERBS) });
    busy = true;
  }
  start();
  setInterval(() => {
    if (!busy || known === null || since === 0) return;
    const spent = performance.now() - since;
    if (spent < 1000) return;
    if (spent < PATIENCE) {
      $('state').textContent = `Searching for ${Math.floor(spent / 1000)} s…`;
      return;
    }
    since = 0;
    waiting = false;
    start();
    fail([`no answer within ${PATIENCE / 1000} s, which is the most that this page spends. Narrow the search by another option: keep=context-parallel=1, keep=schedule=1f1b or shard=1/8. The command below searches all of it on all processors.`]);
  }, 200);

  function started({ names, options }) {
    busy = false;
    if (known) {
      if (waiting) asksAgain();
      return;
    }
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
      $('answer').dataset.state = 'asked';
      if (since > 0 && performance.now() - since > ABANDONED) {
        since = 0;
        start();
      }
      return;
    }
    busy = true;
    since = performance.now();
    $('answer').dataset.state = 'asked';
    asked += 1;
    worker.postMessage({ id: asked, verb: question.verb, options: question.pairs });
  }
  function asksAgain() {
    waiting = false;
    ask();
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
    since = 0;
    if (waiting) return asksAgain();
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
  const AXES = ['tensor', 'context', 'expert', 'pipeline', 'data'];
  function layoutText(row) {
    const l = row.config.layout;
    return [...AXES.filter(axis => l[axis] > 1).map(axis => `${axis} ${l[axis]}`),
      l.schedule && `${l.schedule}${l.virtual_stages > 1 ? ` ${l.virtual_stages} parts` : ''}`, l.zero > 0 && `ZeRO ${l.zero}`,
      l.recompute !== 'none' && `recompute ${l.recompute}`, `${l.micro_batches}\u00a0×\u00a0${l.micro_batch}`, row.tried].filter(Boolean).join(', ');
  }
  /** The question that a command asks. */
  function questionOf(text) {
    const [, verb, ...rest] = text.match(/'[^']*'|[^\s']+/g).map(word => word.replace(/^'|'$/g, ''));
    return { verb, pairs: rest.flatMap((word, i) => (i % 2 === 0 ? [[word.slice(2), rest[i + 1]]] : [])) };
  }
  const tokensEach = row => (row.throughput.parts?.value ?? row.throughput.value) / row.config.gpus;
  /** What the question keeps out of the search. */
  function leftOut(pairs) {
    const kept = pairs.filter(([name]) => name === 'keep').map(([, value]) => value), shard = pairs.find(([name]) => name === 'shard');
    return [kept.length ? `Only layouts with ${kept.join(', ')} were searched: remove ${kept.length > 1 ? 'these options' : 'this option'} to search the others, which takes longer.` : null,
      shard ? `Only part ${shard[1]} of the layouts was searched.` : null].filter(Boolean);
  }
  const DRAWN = {
    plan: answer => {
      const best = answer.rows[0], unit = best.throughput.parts?.unit ?? best.throughput.unit, counts = answer.counts, alike = answer.rows.filter(row => !row.apart).length;
      const places = answer.rows.map(row => `${row.config.gpus} × ${row.inputs.hardware.name}`), several = new Set(places).size > 1;
      // A row opens as a question of its own.
      const opens = (row, child) => element('a', { class: 'layout', href: link(questionOf(row.command)) }, child);
      return [
        headline([
          ['Best layout', layoutText(best), several ? places[0] : `by ${answer.objective}`, 'wide'],
          ['Step time', seconds(best.step_time_s.value), range(best.step_time_s, seconds)],
          ['Each GPU', `${digits(tokensEach(best))} ${unit}`, `${percent(best.utilization.mfu)} of its arithmetic (MFU)`],
          memoryFigure(best.memory),
        ]),
        element('p', {}, `Searched ${digits(counts.tried)} layouts: ${digits(counts.out_of_memory)} out of memory, ${digits(counts.dominated)} that another one beats in time and memory.`),
        ...leftOut(question.pairs).map(text => element('p', { class: 'left-out' }, text)),
        bars('Step time', answer.rows.map((row, i) => ({ name: `${i + 1}  ${several ? places[i] : layoutText(row)}`, value: row.step_time_s.value, low: row.step_time_s.low, high: row.step_time_s.high })), seconds),
        table(['', ...(several ? ['cluster'] : []), 'layout, micro-batches × samples', 'behind', `${unit} each`, 'MFU', 'memory', 'USD per million samples', 'J per sample', 'limit'], answer.rows.map((row, i) => [
          String(i + 1), ...(several ? [places[i]] : []), opens(row, layoutText(row)), i === 0 ? 'best' : `${percent(row.behind)}${row.apart ? '' : ' ?'}`, digits(tokensEach(row)),
          percent(row.utilization.mfu), `${percent(fullest(row.memory).peak_bytes / row.memory.capacity_bytes)}`, row.cost.usd_per_million_samples ? digits(row.cost.usd_per_million_samples) : '',
          row.cost.joule_per_sample ? digits(row.cost.joule_per_sample) : '', words(row.limit.resource)]), several ? [1, 2, 9] : [1, 8]),
        alike > 0 ? element('p', {}, `? ${alike} of these cannot be told apart from the best: the range of the speed-up holds 1.`) : null,
        ...answer.problems.map(text => element('p', {}, text)),
        element('h2', {}, 'Each row in full'),
        element('ol', { class: 'commands' }, ...answer.rows.map(row => element('li', {}, element('a', { href: link(questionOf(row.command)) }, element('code', {}, row.command))))),
      ];
    },
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
