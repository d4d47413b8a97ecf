#include "report/page/page.h"

namespace difflab::report {

const char* const kPageStyle = R"css(
:root { color-scheme: light dark; --paper: #ffffff; --ink: #1a1a1a; --muted: #595959;
  --line: #dcdcdc; --soft: #f4f5f7; --link: #0b5cad; --bad: #a8320a; --good: #00704f; }
@media (prefers-color-scheme: dark) {
  :root { --paper: #16181d; --ink: #e8e8e8; --muted: #a8adb5; --line: #353a43; --soft: #1f2229;
    --link: #7db8f0; --bad: #ff9a70; --good: #4fd1a5; }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink);
  font: 16px/1.5 system-ui, "Segoe UI", Roboto, "Liberation Sans", Arial, sans-serif; }
main { max-width: 72rem; margin: 0 auto; padding: 1.5rem 1rem 4rem; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: 0 0 .25rem; }
h2 { font-size: 1.15rem; margin: 2.2rem 0 .6rem; padding-top: .9rem;
  border-top: 1px solid var(--line); }
h3 { font-size: 1rem; margin: 1.4rem 0 .4rem; }
p { margin: .4rem 0; max-width: 46rem; }
a { color: var(--link); }
code { font: .86em ui-monospace, "DejaVu Sans Mono", monospace; overflow-wrap: anywhere; }
.muted, footer { color: var(--muted); font-size: .9rem; }
.answer { background: var(--soft); border-left: 4px solid var(--link); padding: .7rem 1rem;
  margin: 1rem 0; font-size: 1.05rem; }
.warning { color: var(--bad); }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: .9rem; font-variant-numeric: tabular-nums;
  border-top: 2px solid var(--ink); border-bottom: 2px solid var(--ink); }
th, td { text-align: left; padding: .28rem .75rem .28rem 0; vertical-align: baseline; }
th { font-weight: 600; border-bottom: 1px solid var(--ink); }
td { white-space: nowrap; }
td.wrap { white-space: normal; min-width: 14rem; }
.number { text-align: right; }
tr.group td { border-top: 1px solid var(--line); }
ul.notes { color: var(--muted); font-size: .85rem; padding-left: 1.1rem; max-width: 60rem;
  overflow-wrap: anywhere; }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 28rem), 1fr));
  gap: 1.5rem; }
figure { margin: 0; min-width: 0; }
figure.wide { grid-column: 1 / -1; }
.drawing { overflow-x: auto; }
.drawing.vega-embed { display: block; width: 100%; padding: 0; }
.drawing svg.marks { display: block; width: 100%; max-width: 34rem; height: auto;
  overflow: visible; }
.wide .drawing svg.marks { max-width: 66rem; min-width: 36rem; }
.drawing img { width: 100%; max-width: 34rem; background: #fff; }
.sample pre { background: var(--soft); padding: .7rem 1rem; white-space: pre-wrap;
  overflow-wrap: anywhere; max-width: 46rem; font: .86rem/1.45 ui-monospace, "DejaVu Sans Mono",
  monospace; }
figcaption { font-size: .85rem; color: var(--muted); }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .15rem 1.2rem; font-size: .9rem; }
dt { color: var(--muted); }
dd { margin: 0; overflow-wrap: anywhere; }
details { margin: .6rem 0; max-width: 100%; }
summary { cursor: pointer; color: var(--link); font-size: .95rem; }
.opening { display: grid; grid-template-columns: minmax(0, 5fr) minmax(0, 7fr); gap: 1rem 2rem;
  align-items: start; margin-top: 1rem; }
.opening.broad { grid-template-columns: minmax(0, 1fr); }
.opening.broad figure { max-width: 46rem; margin-bottom: 0; }
.claims { font-size: .88rem; line-height: 1.35; border-top: 2px solid var(--ink); }
.claims .muted { font-size: .8rem; }
.claim { display: grid; gap: .3rem 1.5rem; padding: .45rem 0;
  border-top: 1px solid var(--line); }
.broad .claim { grid-template-columns: minmax(0, 5fr) minmax(0, 7fr); }
.verdicts { display: grid; gap: .3rem 1rem;
  grid-template-columns: repeat(auto-fill, minmax(11.5rem, 1fr)); }
.verdicts span { display: block; }
.supported strong { color: var(--good); }
.opposite strong { color: var(--bad); }
.equivalent strong { color: var(--link); }
.opening figure.wide { grid-column: auto; }
.opening .wide .drawing svg.marks { min-width: 0; }
@media (max-width: 60rem) { .opening, .opening.broad { grid-template-columns: minmax(0, 1fr); } }
@media (max-width: 36rem) {
  dl { grid-template-columns: 1fr; }
  dd { margin-bottom: .4rem; }
  .broad .claim { grid-template-columns: minmax(0, 1fr); }
  .verdicts { grid-template-columns: minmax(0, 1fr); gap: 0; }
  .verdicts span { display: inline; }
}
)css";

// The drawings carry the colours of paper; in the dark the four neutral ones are exchanged.
const char* const kPageScript = R"js(
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
)js";

}  // namespace difflab::report
