// Plots and tables as elements. Texts of others go into text nodes alone, never into markup.
'use strict';

/** An element with attributes and children; strings become text. */
function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key === 'style') for (const [property, set] of Object.entries(value)) made.style.setProperty(property, set);
    else made.setAttribute(key, value);
  }
  made.append(...children.filter(child => child !== null && child !== undefined));
  return made;
}

/** Three significant digits, without an exponent where that is readable. */
function digits(value) {
  if (value === 0) return '0';
  const size = Math.abs(value);
  return size >= 1000 && size < 1e6 ? Math.round(value).toLocaleString('en') : String(Number(value.toPrecision(3)));
}

function scaled(value, steps) {
  const size = Math.abs(value);
  const [unit, factor] = steps.find(([, least]) => size >= least) ?? steps.at(-1);
  return `${digits(value / factor)} ${unit}`;
}
const seconds = value => scaled(value, [['h', 3600], ['min', 60], ['s', 1], ['ms', 1e-3], ['µs', 1e-6]]);
const bytes = value => scaled(value, [['TB', 1e12], ['GB', 1e9], ['MB', 1e6], ['kB', 1e3], ['B', 1]]);
const percent = value => `${digits(100 * value)} %`;
const words = key => key.replaceAll('_', ' ');

/** Round positions from 0 to at least `most`, four or five of them. */
function ticks(most) {
  const rough = most / 4, power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map(s => s * power).find(s => s >= rough);
  return Array.from({ length: Math.ceil(most / step - 1e-9) + 1 }, (_, i) => i * step);
}

/** Horizontal bars with an axis. Rows are {name, value, low, high, kind, note}; `show` writes a value with its unit. */
function bars(title, rows, show) {
  const most = Math.max(...rows.map(row => row.high ?? row.value), 0);
  if (!(most > 0)) return null;
  const marks = ticks(most), end = marks.at(-1), at = value => `${(100 * Math.max(value, 0)) / end}%`;
  const plot = element('div', { class: 'bars', role: 'list' });
  for (const row of rows) {
    const track = element('div', { class: 'track' });
    for (const mark of marks) track.append(element('i', { class: 'grid', style: { left: at(mark) } }));
    track.append(element('b', { class: `bar ${row.kind ?? ''}`, style: { width: at(row.value) } }));
    if (row.low !== undefined && row.high !== undefined)
      track.append(element('i', { class: 'range', style: { left: at(row.low), width: `calc(${at(row.high)} - ${at(row.low)})` } }));
    plot.append(element('div', { class: 'row', role: 'listitem' },
      element('span', { class: 'name', title: row.note ?? row.name }, row.name), track, element('span', { class: 'value' }, show(row.value))));
  }
  const axis = element('div', { class: 'track axis', 'aria-hidden': 'true' });
  marks.forEach((mark, i) => {
    if (marks.length < 5 || i % 2 === 0) axis.append(element('span', { style: { left: at(mark) } }, mark === 0 ? '0' : show(mark)));
  });
  plot.append(element('div', { class: 'row', 'aria-hidden': 'true' }, element('span'), axis, element('span')));
  return element('figure', {}, element('figcaption', {}, title), plot);
}

/** One bar of parts that add up, with a legend. Parts are {name, value, kind}. */
function stack(title, parts, show, whole) {
  const shown = parts.filter(part => part.value > 0);
  const sum = shown.reduce((total, part) => total + part.value, 0), end = Math.max(whole ?? sum, sum);
  if (!(end > 0)) return null;
  const bar = element('div', { class: 'stack' }), legend = element('ul', { class: 'legend' });
  for (const part of shown) {
    bar.append(element('b', { class: part.kind, title: `${part.name}: ${show(part.value)}`, style: { width: `${(100 * part.value) / end}%` } }));
    legend.append(element('li', {}, element('i', { class: part.kind }), `${part.name} `, element('strong', {}, show(part.value))));
  }
  return element('figure', {}, element('figcaption', {}, title), bar, legend);
}

/** A table. The first column and those numbered in `texts` hold words, the others figures. */
function table(heads, rows, texts = []) {
  const kind = i => (texts.includes(i) ? { class: 'words' } : {});
  return element('div', { class: 'scroll', tabindex: '0' }, element('table', {},
    element('thead', {}, element('tr', {}, ...heads.map((head, i) => element('th', { scope: 'col', ...kind(i) }, head)))),
    element('tbody', {}, ...rows.map(cells => element('tr', {}, ...cells.map((cell, i) =>
      (i === 0 ? element('th', { scope: 'row' }, cell) : element('td', kind(i), cell))))))));
}

/** Figures in large type. Each is [what, value, remark]. */
function headline(figures) {
  return element('dl', { class: 'headline' }, ...figures.filter(Boolean).map(([what, value, remark, kind]) =>
    element('div', { class: kind ?? '' }, element('dt', {}, what), element('dd', {}, value), element('dd', { class: 'remark' }, remark ?? ''))));
}
