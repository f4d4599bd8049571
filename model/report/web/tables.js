// Tables that sort by a click on a head, filter by words, and can be saved as CSV with their units.
/// columns: {title, key, show, text, long, wide}; `key`: a name in the row or a function of it; `text`: left-aligned words; `long`: they
/// are broken into lines; `wide`: into few.
const table = (place, name, columns, rows, most = 25) => {
  const get = (row, column) => (typeof column.key === 'function' ? column.key(row) : row[column.key]);
  const cell = (row, column) => {
    const value = get(row, column);
    return column.show ? column.show(value, row) : value === null || value === undefined ? '-' : String(value);
  };
  const tools = make('div', undefined, place, {class: 'tools'});
  let filter = '';
  if (rows.length > 12) {
    const box = make('input', undefined, tools, {type: 'search', placeholder: 'search', 'aria-label': 'search in ' + name});
    box.oninput = () => { filter = box.value.toLowerCase(); fill(); };
  }
  const saved = make('button', 'CSV', tools, {'aria-label': 'save ' + name + ' as CSV', class: 'save'});
  saved.onclick = () => save(name + '.csv', 'text/csv', csvText(columns.map(c => (typeof c.key === 'string' ? c.key : c.title)),
                                                               rows.map(row => columns.map(c => get(row, c)))));
  const scroll = make('div', undefined, place, {class: 'scroll', tabindex: 0, role: 'region', 'aria-label': name});
  const body = make('table', undefined, scroll, {id: 'table-' + name});
  const head = make('tr', undefined, make('thead', undefined, body));
  const lines = make('tbody', undefined, body);
  const more = make('p', '', place, {class: 'soft'});
  const order = rows.map((row, i) => i);
  let sorted = -1, down = true, all = false;
  const fill = () => {
    lines.replaceChildren();
    const found = order.filter(i => !filter || columns.some(c => cell(rows[i], c).toLowerCase().includes(filter)));
    const listed = all ? found : found.slice(0, most);
    for (const i of listed) {
      const line = make('tr', undefined, lines);
      for (const column of columns) make('td', cell(rows[i], column), line, {class: (column.text ? 'text' : '') + (column.long ? ' long' : '') + (column.wide ? ' wide' : '')});
    }
    more.textContent = listed.length < found.length ? listed.length + ' of ' + found.length + ' rows are shown. ' : '';
    if (listed.length < found.length) make('button', 'Show all', more).onclick = () => { all = true; fill(); };
  };
  columns.forEach((column, at) => {
    const header = make('th', undefined, head, {class: column.text ? 'text' : '', scope: 'col'});
    make('button', column.title, header).onclick = () => {
      const sample = rows.map(row => get(row, column)).find(value => value !== null && value !== undefined);
      down = sorted === at ? !down : typeof sample === 'number';
      sorted = at;
      const compare = (a, b) => (typeof sample === 'number' ? (a ?? -Infinity) - (b ?? -Infinity) : String(a).localeCompare(String(b)));
      order.sort((a, b) => compare(get(rows[a], column), get(rows[b], column)) * (down ? -1 : 1));
      for (const other of head.children) other.removeAttribute('aria-sort');
      header.setAttribute('aria-sort', down ? 'descending' : 'ascending');
      fill();
    };
  });
  fill();
};
/// Where the constants behind a prediction come from.
const sources = rows => {
  if (!rows || rows.length === 0) return;
  table(section('Where the constants come from'), 'sources',
        [{title: 'what', key: 'what', text: true}, {title: 'kind', key: 'kind', text: true}, {title: 'source', key: 'source', text: true, long: true, wide: true}], rows);
};
