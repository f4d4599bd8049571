// What every page is made of: its data, elements, numbers as people read them, headings and cards.
const page = JSON.parse(document.getElementById('data').textContent);
const data = page.data;

const make = (tag, text, parent, attributes) => {
  const element = document.createElement(tag);
  if (text !== undefined) element.textContent = text;
  for (const key in attributes || {}) element.setAttribute(key, attributes[key]);
  if (parent) parent.append(element);
  return element;
};
const draw = (tag, attributes, parent, text) => {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const key in attributes) element.setAttribute(key, attributes[key]);
  if (text !== undefined) element.textContent = text;
  parent.append(element);
  return element;
};

/// Three digits, as a person would write them.
const digits = x => {
  if (x === null || x === undefined || Number.isNaN(x)) return '-';
  if (x === 0) return '0';
  const size = Math.abs(x);
  if (size >= 1e6 || size < 1e-3) return x.toExponential(2);
  return size >= 1e3 ? String(Math.round(x)) : String(+x.toPrecision(3));
};
/// Units of one kind, from the smallest: factor and name. Axes and texts choose the one that suits their largest figure.
const units = {
  time: [[1e-9, 'ns'], [1e-6, 'us'], [1e-3, 'ms'], [1, 's'], [60, 'min'], [3600, 'h'], [86400, 'd']],
  bytes: [[1, 'B'], [1e3, 'kB'], [1e6, 'MB'], [1e9, 'GB'], [1e12, 'TB']],
  rate: [[1, 'B/s'], [1e3, 'kB/s'], [1e6, 'MB/s'], [1e9, 'GB/s'], [1e12, 'TB/s']],
  flops: [[1, 'FLOP/s'], [1e9, 'GFLOP/s'], [1e12, 'TFLOP/s'], [1e15, 'PFLOP/s']],
  percent: [[.01, '%']],
  USD: [[.01, 'cents'], [1, 'USD']],
};
const unitFor = (kind, largest) => {
  const all = units[kind];
  if (!all) return [1, kind];  // a unit of its own, such as "images/s"
  let i = 0;
  while (i + 1 < all.length && Math.abs(largest) >= all[i + 1][0] * (kind === 'time' && i >= 3 ? 3 : kind === 'USD' ? .1 : 1)) i++;
  return all[i];
};
const shown = (kind, x) => {
  if (x === null || x === undefined) return '-';
  const [factor, name] = unitFor(kind, x);
  return digits(x / factor) + (name ? ' ' + name : '');
};
const time = x => shown('time', x);
const bytes = x => shown('bytes', x);
const rate = x => shown('rate', x);
const percent = x => shown('percent', x);
const usd = x => (x === null || x === undefined ? '-' : digits(x) + ' USD');
/// Keys of the answer that underscores alone do not make words.
const plain = {gpu_compute: 'GPU arithmetic', intra_node_link: 'links within a node', exchange_exposed: 'exchange, exposed', input_exposed: 'input, exposed',
               host_exposed: 'host, exposed', host_price: 'host', 'no layer': 'outside all layers', optimizer_state: 'optimiser state'};
const words = key => plain[key] || String(key).replaceAll('_', ' ').replace(/\bgpu\b/, 'GPU').replace(/\bcpu\b/, 'CPU');
/// A sentence of the program, which names resources by their keys.
const plainly = text => String(text).replace(/\b(gpu_compute|gpu_memory_bandwidth|host_link|host_memory_bandwidth|intra_node_link)\b/g, words);
const range = (show, value) => '80 % range ' + show(value.low) + ' to ' + show(value.high);
const plural = (n, word) => n + ' ' + word + (n === 1 ? '' : 's');

const mainPart = document.getElementById('main');
/// Title and what the answer is about, above everything else.
const heading = (title, facts) => {
  document.getElementById('title').textContent = title;
  document.getElementById('subtitle').textContent = facts.filter(Boolean).join(', ');
  document.title = title + ' - tbdsim';
};
/// Cards in rows of nearly the same number; a last one that would stand alone takes its whole row.
const cards = list => {
  const place = make('div', undefined, mainPart, {class: 'cards'}), least = 168;  // pixels of the narrowest card
  const arrange = () => {
    const fitting = Math.max(1, Math.floor((place.clientWidth + 11) / (least + 11))), columns = Math.ceil(list.length / Math.ceil(list.length / fitting));
    place.style.gridTemplateColumns = 'repeat(' + columns + ', minmax(0, 1fr))';
    place.lastChild.style.gridColumn = columns > 1 && list.length % columns === 1 ? '1 / -1' : '';
  };
  for (const [name, value, note] of list) {
    const card = make('div', name, place, {class: 'card'});
    make('b', value, card);
    if (note) make('span', note, card, {class: 'soft'});
  }
  if (list.length === 0) return;
  arrange();
  addEventListener('resize', arrange);
};
const section = (title, note, parent) => {
  const part = make('section', undefined, parent || mainPart);
  make('h2', title, part);
  if (note) make('p', note, part, {class: 'soft'});
  return part;
};
/// Two or more sections side by side where there is room.
const sideBySide = () => make('div', undefined, mainPart, {class: 'pair'});

/// Offers a text as a file.
const save = (name, type, text) => {
  const address = URL.createObjectURL(new Blob([text], {type}));
  const link = make('a', undefined, document.body, {href: address, download: name});
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10000);  // the browser reads it after the click
};
const csvField = value => {
  const text = value === null || value === undefined ? '' : String(value);
  return /[",\n]/.test(text) ? '"' + text.replaceAll('"', '""') + '"' : text;
};
const csvText = (columns, rows) => [columns, ...rows].map(row => row.map(csvField).join(',')).join('\n') + '\n';

/// What ends every page: remarks, the command that made it, and the version.
const ending = tool => {
  const foot = document.getElementById('footer');
  for (const notice of [...new Set(page.notices)]) make('p', 'Note: ' + notice, foot, {class: 'soft'});
  if (page.command) {
    const part = make('section', undefined, foot);
    make('h2', 'The command that made this page', part);
    make('pre', page.command, part, {id: 'command'});
  }
  make('p', 'tbdsim ' + tool.version + '. Ranges are central 80 % ranges of the prediction.', foot, {class: 'soft'});
};
