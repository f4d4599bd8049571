// One colour for each meaning, on every page; page.css has the colours themselves, light and dark.
const meanings = {
  // phases of a step
  forward: 'blue', backward: 'sky', weight_gradients: 'indigo', weight_update: 'green', update: 'green', exchange: 'red', exchange_exposed: 'red', intra_node_link: 'red',
  input: 'orange', input_exposed: 'orange', host: 'yellow', host_exposed: 'yellow', metric: 'sand', copy: 'teal', sent: 'red', received: 'teal', bubble: 'pale', waiting: 'pale',
  // parts of the memory
  weights: 'green', gradients: 'pink', gradient_sum: 'pink', optimizer_state: 'wine', feature_maps: 'indigo', workspace: 'teal', dynamic: 'sand', context: 'grey', slack: 'brown', free: 'pale',
  // what bounds a kernel or a step
  gpu_compute: 'olive', gpu_memory_bandwidth: 'plum', gpu_launch: 'grey', host_link: 'teal', host_memory_bandwidth: 'brown', network: 'pink', storage: 'sand',
  // figures
  predicted: 'ink', measured: 'text', outside: 'red', reference: 'grey', fit: 'grey', hardware: 'teal', setting: 'ink',
  // prices
  bought: 'ink', rented: 'pink', machines: 'ink', host_price: 'brown', power: 'olive', rent: 'pink',
};
const colour = meaning => 'var(--' + (meanings[String(meaning).replaceAll(' ', '_')] || 'grey') + ')';
/// Series without a meaning of their own, such as networks or ranks, in colours that no phase has; each has a symbol too.
const seriesColours = ['ink', 'brown', 'teal', 'plum', 'pink', 'olive', 'grey', 'wine'];
const seriesSymbols = ['circle', 'square', 'triangle', 'diamond', 'star', 'cross', 'wye', 'hexagon'];
const seriesColour = i => 'var(--' + seriesColours[i % seriesColours.length] + ')';
const seriesSymbol = i => seriesSymbols[i % seriesSymbols.length];

/// The light colours by name, for pictures that leave the page.
const lightColours = () => {
  const found = {};
  const style = document.styleSheets[0].cssRules[0].style;
  for (let i = 0; i < style.length; i++) found[style[i]] = style.getPropertyValue(style[i]).trim();
  return found;
};
