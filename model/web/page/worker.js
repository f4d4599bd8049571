// Runs beside the page, after the compiled predictor's own script: takes questions, posts answers.
/* global startTbdsim */
'use strict';
let page;
onmessage = async ({ data }) => {
  if (data.catalogue) {
    const module = await startTbdsim();
    for (const [path, text] of Object.entries(data.catalogue)) {
      module.FS.mkdirTree('/tbdsim/' + path.slice(0, path.lastIndexOf('/')));
      module.FS.writeFile('/tbdsim/' + path, text);
    }
    page = new module.Page('/tbdsim');
    const names = {}, options = {};
    for (const kind of data.kinds) names[kind] = page.names(kind);
    for (const verb of data.verbs) options[verb] = page.options(verb);
    postMessage({ started: true, names, options });
    return;
  }
  const begun = performance.now();
  let reply;
  try {
    reply = page.ask(data.verb, data.options);
  } catch (problem) {
    reply = { text: '', notices: [], errors: [`this question takes more than the page has: ${problem}`] };
  }
  postMessage({ ...reply, id: data.id, milliseconds: performance.now() - begun });
};
