// A figure: drawn at the width it has, drawn anew when that changes or the page is printed, saved as SVG and as CSV.
const printedWidth = 660;  // pixels, of A4 within its margins
const figures = [];

/// A legend below the plot, inside the picture, so that a saved picture has it too.
const addLegend = (svg, width, entries) => {
  if (!entries || entries.length === 0) return;
  let x = 8, y = Number(svg.getAttribute('height')) + 6;
  const group = draw('g', {class: 'legend', 'font-size': 12}, svg);
  for (const entry of entries) {
    const wide = 24 + entry.label.length * 6.7;
    if (x > 8 && x + wide > width) { x = 8; y += 18; }
    if (entry.dashed) draw('path', {d: 'M' + x + ' ' + (y + 5) + 'h14', stroke: entry.colour, 'stroke-width': 2, 'stroke-dasharray': '4 3'}, group);
    else if (entry.symbol) group.append(symbolAt(entry.symbol, x + 7, y + 5, entry.colour));
    else draw('rect', {x, y, width: 12, height: 10, fill: entry.colour}, group);
    draw('text', {x: x + 19, y: y + 9, fill: 'currentColor', 'text-anchor': 'start'}, group, entry.label);
    x += wide + 6;
  }
  const height = y + 18;
  svg.setAttribute('height', height);
  svg.setAttribute('viewBox', '0 0 ' + width + ' ' + height);
};
/// A symbol as the plots draw it.
const symbolAt = (symbol, x, y, fill) => {
  const dot = Plot.plot({width: 14, height: 14, margin: 0, axis: null, x: {domain: [0, 1]}, y: {domain: [0, 1]},
                         marks: [Plot.dot([[.5, .5]], {symbol, fill, r: 4.5})]}).querySelector('path, circle');
  const group = document.createElementNS('http://www.w3.org/2000/svg', 'g');
  group.setAttribute('transform', 'translate(' + (x - 7) + ' ' + (y - 7) + ')');
  group.setAttribute('fill', fill);
  const copy = dot.cloneNode(true);
  copy.setAttribute('fill', fill);
  group.append(copy);
  return group;
};

/// The picture as a file of its own: light colours, a white ground, a font by name.
const standalone = svg => {
  const copy = svg.cloneNode(true);
  for (const style of copy.querySelectorAll('style')) style.remove();
  copy.setAttribute('xmlns', 'http://www.w3.org/2000/svg');
  copy.setAttribute('color', '#1a1d21');
  copy.setAttribute('fill', 'currentColor');
  copy.setAttribute('text-anchor', 'middle');
  copy.setAttribute('font-family', 'sans-serif');
  if (!copy.getAttribute('font-size')) copy.setAttribute('font-size', '12');
  const ground = document.createElementNS('http://www.w3.org/2000/svg', 'rect');
  for (const [key, value] of Object.entries({width: '100%', height: '100%', fill: '#fff'})) ground.setAttribute(key, value);
  copy.prepend(ground);
  const light = lightColours();
  return '<?xml version="1.0" encoding="UTF-8"?>\n' +
      new XMLSerializer().serializeToString(copy).replace(/var\((--[\w-]+)\)/g, (all, name) => light[name] || 'black') + '\n';
};

/// Moves names of points into the picture, and below their point where they would lie on another name; leaves out what still does.
const placeLabels = svg => {
  const box = svg.getBoundingClientRect(), placed = [];
  const meets = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
  for (const label of svg.querySelectorAll('[aria-description=names] text')) {
    const at = label.getBoundingClientRect();
    if (at.width === 0) continue;
    const inside = Math.min(0, box.right - 2 - at.right) + Math.max(0, box.left + 2 - at.left);
    if (inside !== 0) label.setAttribute('dx', inside);
    for (const down of [0, 24, -14, 38]) {
      if (down !== 0) label.setAttribute('dy', down);
      if (!placed.some(other => meets(other, label.getBoundingClientRect()))) break;
    }
    if (placed.some(other => meets(other, label.getBoundingClientRect()))) label.remove();
    else placed.push(label.getBoundingClientRect());
  }
};

/// spec: {name, about, note, columns, rows, legend, draw(width) -> svg}. `about` says in a sentence what is seen; `columns` and
/// `rows` are the figures behind it. The sections's heading is its title.
const figure = (place, spec) => {
  const tools = make('div', undefined, place, {class: 'tools'});
  const box = make('figure', undefined, place, {id: 'figure-' + spec.name});
  const caption = make('figcaption', spec.note || '', box);
  let width = 0;
  const show = wanted => {
    if (wanted === width || wanted < 100) return;
    width = wanted;
    const svg = spec.draw(width);
    addLegend(svg, width, spec.legend);
    svg.setAttribute('role', 'img');
    svg.setAttribute('aria-label', spec.about);
    if (box.querySelector('svg')) box.querySelector('svg').replaceWith(svg);
    else box.insertBefore(svg, caption);
    placeLabels(svg);
  };
  const fit = () => show(Math.floor(place.clientWidth));
  make('button', 'SVG', tools, {'aria-label': 'save ' + spec.name + ' as SVG', class: 'save'}).onclick =
      () => save(spec.name + '.svg', 'image/svg+xml', standalone(box.querySelector('svg')));
  make('button', 'CSV', tools, {'aria-label': 'save ' + spec.name + ' as CSV', class: 'save'}).onclick =
      () => save(spec.name + '.csv', 'text/csv', csvText(spec.columns, spec.rows));
  figures.push({fit, show});
  fit();
};
addEventListener('resize', () => figures.forEach(f => f.fit()));
addEventListener('beforeprint', () => figures.forEach(f => f.show(printedWidth)));
addEventListener('afterprint', () => figures.forEach(f => f.fit()));
// The scroll bar of a page that grew takes width from the first figures.
addEventListener('load', () => figures.forEach(f => f.fit()));
