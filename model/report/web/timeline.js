// The timeline of a step: a lane for each stream, thread or rank; zoomed by buttons, keys or the wheel.
/// Round times between two, in us, at most so many, and how each is written: all in the unit of the last.
const timeTicks = (from, to, few) => {
  const rough = (to - from) / few, power = 10 ** Math.floor(Math.log10(rough)), step = [1, 2, 5, 10].map(by => by * power).find(by => by >= rough * .999);
  const [factor, unit] = unitFor('time', to * 1e-6), decimals = Math.max(0, -Math.floor(Math.log10(step * 1e-6 / factor) + 1e-9));
  const ticks = [];
  for (let i = Math.ceil(from / step - 1e-9); i * step <= to * (1 + 1e-12); i++) ticks.push({at: i * step, text: (i * step * 1e-6 / factor).toFixed(decimals) + ' ' + unit});
  return ticks;
};
/// Events of several lanes in one: how many of the lanes are busy, from each change to the next.
const foldedEvents = (events, of, lane) => {
  const changes = events.flatMap(e => [[e.ts, 1], [e.ts + e.dur, -1]]).sort((a, b) => a[0] - b[0]), list = [];
  let busy = 0;
  changes.forEach(([at, by], i) => {
    busy += by;
    const dur = i + 1 < changes.length ? changes[i + 1][0] - at : 0, last = list.at(-1);
    if (busy <= 0 || dur <= 0) return;
    if (last && last.busy === busy && Math.abs(last.ts + last.dur - at) < 1e-6) last.dur += dur;
    else list.push({name: busy + ' of ' + of + ' link directions busy', kind: events[0].kind, ts: at, dur, lane, busy, share: Math.min(1, busy / of)});
  });
  return list;
};
/// The lanes of links as one, or each as its own. links: names of lanes that are links.
const withLinks = ({events, lanes}, links, open) => {
  const folded = lanes.filter(name => links.has(name));
  if (open || folded.length < 2) return {events, lanes};
  const kept = [...lanes.filter(name => !links.has(name)), 'links of the exchange, ' + folded.length + ' in one lane'];
  const others = events.filter(e => !links.has(lanes[e.lane])).map(e => ({...e, lane: kept.indexOf(lanes[e.lane])}));
  return {lanes: kept, events: [...others, ...foldedEvents(events.filter(e => links.has(lanes[e.lane])), folded.length, kept.length - 1)]};
};
/// events: [{name, kind, told, ts, dur, lane, thin, share}] in us; `share`: of the height of its lane. lanes: their names; links:
/// those of them that are links. end: of the step, in us.
const timeline = (place, {events: allEvents, lanes: allLanes, links = new Set(), end}) => {
  const tools = make('div', undefined, place, {class: 'tools'});
  const box = make('figure', undefined, place, {id: 'figure-timeline', tabindex: 0, 'aria-label': 'timeline; keys + - and arrows zoom and move'});
  const svg = draw('svg', {class: 'timeline', role: 'img', 'aria-label': 'What each lane does over one step'}, box);
  const tip = make('div', '', place, {class: 'tip soft', id: 'tip', 'aria-live': 'polite'});
  const kinds = [...new Set(allEvents.map(e => e.kind))], foldable = allLanes.filter(name => links.has(name)).length;
  let from = 0, to = end, open = false;
  const show = () => {
    const {events, lanes} = withLinks({events: allEvents, lanes: allLanes}, links, open);
    const lane = Math.max(12, Math.min(30, 420 / lanes.length)), gap = lane + 20, tall = lanes.length * gap + 26;
    const width = svg.clientWidth || 700, scale = width / (to - from);
    svg.replaceChildren();
    svg.setAttribute('viewBox', '0 0 ' + width + ' ' + tall);
    svg.setAttribute('height', tall);
    svg.setAttribute('width', width);
    const ticks = timeTicks(from, to, width / 90), at = tick => (tick.at - from) * scale;
    for (const tick of ticks) draw('path', {d: 'M' + at(tick) + ' 0V' + (tall - 22), stroke: 'var(--line)', 'stroke-width': .7}, svg);
    lanes.forEach((name, i) => draw('text', {x: 2, y: i * gap + 12, 'font-size': 11, fill: 'var(--soft)', stroke: 'var(--plot-background)', 'stroke-width': 3, 'paint-order': 'stroke'}, svg, clipped(name, width)));
    for (const e of events) {
      if (e.ts + e.dur < from || e.ts > to) continue;
      const x = Math.max(0, (e.ts - from) * scale), wide = Math.min(width, (e.ts + e.dur - from) * scale) - x, high = e.thin ? 7 : lane * (e.share ?? 1);
      const bar = draw('rect', {x, y: e.lane * gap + 16 + lane - high, width: Math.max(wide, .4), height: high, fill: colour(e.kind), 'data-kind': e.kind}, svg);
      bar.onpointerenter = bar.onclick = () => { tip.textContent = e.name + ', ' + words(e.kind) + ', ' + time(e.dur * 1e-6) + (e.told || ''); };
    }
    for (const tick of ticks) {
      const half = tick.text.length * 3.2, x = at(tick), anchor = x < half ? 'start' : x > width - half ? 'end' : 'middle';
      draw('text', {x: anchor === 'start' ? Math.max(0, x) : anchor === 'end' ? Math.min(width, x) : x, y: tall - 8, 'font-size': 11, fill: 'var(--soft)', 'text-anchor': anchor}, svg, tick.text);
    }
    addLegend(svg, width, kinds.map(kind => ({colour: colour(kind), label: words(kind)})));
  };
  const zoom = (factor, where) => {
    const span = Math.min(end, (to - from) * factor), middle = from + (to - from) * where;
    from = Math.max(0, Math.min(end - span, middle - span * where));
    to = from + span;
    show();
  };
  const shift = share => {
    const span = to - from;
    from = Math.max(0, Math.min(end - span, from + span * share));
    to = from + span;
    show();
  };
  const whole = () => { from = 0; to = end; show(); };
  for (const [id, text, act] of [['in', 'Zoom in', () => zoom(.5, .5)], ['out', 'Zoom out', () => zoom(2, .5)], ['left', 'Left', () => shift(-.5)],
                                 ['right', 'Right', () => shift(.5)], ['all', 'Whole step', whole]])
    make('button', text, tools, {id}).onclick = act;
  if (foldable > 1) {
    const fold = make('button', '', tools, {id: 'links', 'aria-expanded': 'false'});
    const told = () => { fold.textContent = open ? 'Links in one lane' : 'A lane for each link'; fold.setAttribute('aria-expanded', String(open)); };
    fold.onclick = () => { open = !open; told(); show(); };
    told();
  }
  make('button', 'SVG', tools, {'aria-label': 'save timeline as SVG', class: 'save'}).onclick = () => save('timeline.svg', 'image/svg+xml', standalone(svg));
  box.onkeydown = event => {
    const act = {'+': () => zoom(.5, .5), '-': () => zoom(2, .5), ArrowLeft: () => shift(-.25), ArrowRight: () => shift(.25), Home: whole}[event.key];
    if (act) { event.preventDefault(); act(); }
  };
  svg.onwheel = event => {
    if (!event.ctrlKey && !event.shiftKey) return;
    event.preventDefault();
    zoom(event.deltaY > 0 ? 1.25 : .8, event.offsetX / svg.clientWidth);
  };
  figures.push({fit: show, show: () => { from = 0; to = end; show(); }});
  show();
};

/// Events of a step whose ranks are simulated layer by layer: blocks F, B and W with the bubbles between them.
const stagedEvents = (staged, step) => {
  const kinds = {F: 'forward', B: 'backward', W: 'weight gradients'};
  return staged.ranks.flatMap((r, lane) => {
    const list = [];
    const bubble = (ts, dur) => { if (dur > .01) list.push({name: 'bubble', kind: 'bubble', ts, dur, lane}); };
    for (const [letter, part, micro, ts, dur, wait, idle, held] of r.blocks) {
      bubble(ts - idle, idle);
      list.push({name: letter + micro + ' of part ' + part, kind: kinds[letter], told: ', ' + bytes(held) + ' in use', ts, dur, lane});
      if (wait > 0) list.push({name: 'waits in ' + letter + micro, kind: 'exchange exposed', ts: ts + dur - wait, dur: wait, lane, thin: true});
    }
    const [xs, xd] = r.exchange, [us, ud] = r.update;
    bubble(xs + xd, us - xs - xd);
    if (xd > 0) list.push({name: 'gradients and weights of other copies', kind: 'exchange exposed', ts: xs, dur: xd, lane, thin: true});
    if (ud > 0) list.push({name: 'update', kind: 'update', ts: us, dur: ud, lane});
    if (step - us - ud > .01) list.push({name: 'until the next step', kind: 'waiting', told: ' for the slowest GPU or input', ts: us + ud, dur: step - us - ud, lane});
    return list;
  });
};
/// Events of a step whose kernels are simulated one by one, and the lanes that they lie in.
const kernelEvents = (parts, step, links) => {
  const w = parts.words, lanes = ['GPU, kernels'];
  const kinds = {forward: 'forward', backward_data: 'backward', backward_weights: 'weight gradients', update: 'update'};
  const laneOf = name => { if (!lanes.includes(name)) lanes.push(name); return lanes.indexOf(name); };
  const events = parts.kernels.map(k => ({name: w[k[0]], kind: kinds[w[k[1]]] || w[k[1]], told: ', ' + w[k[2]] + ' ' + w[k[3]] + ' (' + w[k[4]] + ')', ts: k[5], dur: k[6], lane: 0}));
  const busy = events.reduce((last, e) => Math.max(last, e.ts + e.dur), 0);
  parts.exchanges.forEach((x, i) => events.push({name: 'bucket ' + i, kind: 'exchange', ts: x[0], dur: x[1], lane: laneOf('gradient exchange')}));
  for (const [lane, name, ts, dur] of parts.lanes)
    events.push({name: w[name], kind: links.has(w[lane]) ? 'exchange' : /copy|PCIe/.test(w[lane]) ? 'copy' : /loader|input|decod|storage|sample/.test(w[lane]) ? 'input' : /server/.test(w[lane]) ? 'exchange' : 'host', ts, dur, lane: laneOf(w[lane])});
  if (step > busy + .01) events.push({name: 'until the next step', kind: 'waiting', told: ' for the exchange, other GPUs or input', ts: busy, dur: step - busy, lane: 0});
  return {events, lanes, links};
};
