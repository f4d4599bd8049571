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
    else if (entry.symbol) group.append(symbolAt(entry, x + 7, y + 5));
    else draw('rect', {x, y, width: 12, height: 10, fill: entry.colour}, group);
    draw('text', {x: x + 19, y: y + 9, fill: 'currentColor', 'text-anchor': 'start'}, group, entry.label);
    x += wide + 6;
  }
  const height = y + 18;
  svg.setAttribute('height', height);
  svg.setAttribute('viewBox', '0 0 ' + width + ' ' + height);
};
/// A symbol as the plots draw it, hollow or filled.
const symbolAt = ({symbol, colour: paint, hollow}, x, y) => {
  const dot = Plot.plot({width: 14, height: 14, margin: 0, axis: null, x: {domain: [0, 1]}, y: {domain: [0, 1]},
                         marks: [Plot.dot([[.5, .5]], {symbol, fill: paint, r: 4.5})]}).querySelector('path, circle');
  const group = document.createElementNS('http://www.w3.org/2000/svg', 'g');
  group.setAttribute('transform', 'translate(' + (x - 7) + ' ' + (y - 7) + ')');
  const copy = dot.cloneNode(true);
  copy.setAttribute('fill', hollow ? 'none' : paint);
  if (hollow) { copy.setAttribute('stroke', paint); copy.setAttribute('stroke-width', 1.5); }
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

/// Moves names of points to where they lie on no other text and on no point: above their point, below it, beside it. What finds
/// no place is left out; the tip of its point has it.
const placeLabels = svg => {
  const labels = [...svg.querySelectorAll('[aria-description^=names] text')];
  if (labels.length === 0) return;
  const box = svg.getBoundingClientRect(), gap = 4;
  const meets = (a, b) => a.left < b.right + gap && b.left < a.right + gap && a.top < b.bottom + gap && b.top < a.bottom + gap;
  const texts = [...svg.querySelectorAll('text')].filter(text => text.textContent.trim() && !labels.includes(text));
  const taken = [...texts, ...svg.querySelectorAll('[aria-label=dot] > *')].map(e => e.getBoundingClientRect());
  for (const label of labels) {
    if (!label.textContent.trim()) { label.remove(); continue; }
    const at = label.getBoundingClientRect(), own = label.getAttribute('transform') || '', side = at.width / 2 + 10;
    const moves = [0, 6, 12].flatMap(far => [[0, -far], [0, 22 + far], [side + far, 11], [-side - far, 11], [side - 4, -far], [4 - side, -far], [side - 4, 22 + far], [4 - side, 22 + far]]);
    if (label.closest('[aria-description="names of lines"]')) moves.push(...[50, 100, 150].flatMap(left => [[-left, 0], [-left, 20]]));
    const free = ([right, down]) => {
      const moved = {left: at.left + right, right: at.right + right, top: at.top + down, bottom: at.bottom + down};
      return moved.left >= box.left + 2 && moved.right <= box.right - 2 && moved.top >= box.top && moved.bottom <= box.bottom && !taken.some(other => meets(other, moved));
    };
    const move = moves.find(free);
    if (!move) { label.remove(); continue; }
    label.setAttribute('transform', own + ' translate(' + move[0] + ' ' + move[1] + ')');
    taken.push(label.getBoundingClientRect());
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
