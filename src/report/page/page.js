(() => {
  const dark = matchMedia('(prefers-color-scheme: dark)');
  const night = {'#1a1a1a': '#e8e8e8', '#595959': '#a8adb5', '#e4e4e4': '#30343c',
                 '#ffffff': '#16181d'};
  // As render.py does for the files: λ_init gets its index lowered.
  const lowerSubscripts = (place) => {
    const span = (text, attributes) => {
      const element = document.createElementNS('http://www.w3.org/2000/svg', 'tspan');
      element.textContent = text;
      for (const name in attributes) element.setAttribute(name, attributes[name]);
      return element;
    };
    for (const text of place.querySelectorAll('svg text')) {
      const found = /^(.*[\u0370-\u03ff])_(\w+)(.*)$/.exec(text.textContent);
      if (!found || text.childElementCount > 0) continue;
      const size = parseFloat(text.getAttribute('font-size'));
      text.textContent = found[1];
      text.append(span(found[2], {'font-size': 0.72 * size + 'px', dy: 0.22 * size}));
      text.append(span(found[3], {dy: -0.22 * size}));
    }
  };
  const draw = async (place) => {
    let text = document.getElementById(place.dataset.spec).textContent;
    if (dark.matches) for (const day in night) text = text.replaceAll(`"${day}"`, `"${night[day]}"`);
    try {
      const spec = JSON.parse(text);
      delete spec.$schema;  // Vega-Lite 6, which this page carries, reads 5 but says so each time
      await vegaEmbed(place, spec, {mode: 'vega-lite', renderer: 'svg', actions: false});
      lowerSubscripts(place);
      place.dataset.drawn = 'yes';
    } catch (error) {
      place.dataset.drawn = 'no';
      console.error(place.dataset.name, error);
    }
  };
  const all = () => document.querySelectorAll('.drawing[data-spec]').forEach(draw);
  dark.addEventListener('change', all);
  all();
})();
