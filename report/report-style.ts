/** The page's style: light, dark and print; no file beside the page is needed. */
export const REPORT_STYLE = `
:root {
  color-scheme: light dark;
  --paper: #fcfcfa; --card: #ffffff; --ink: #1d2529; --ink-faint: #667078; --line: #e3e5e3; --edge: #e3e5e3;
  --causal: #0f766e; --causal-soft: #c5e4df; --last-click: #c9a26b; --baseline: #d7dbd8; --whisker: #1d2529;
  --series-1: #2563eb; --series-2: #c2410c; --series-3: #9ca3af; --series-4: #a16207; --series-5: #0f766e;
  --warn-paper: #fdf6e3; --warn-edge: #e5c76b;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #14191b; --card: #1b2225; --ink: #e6eaea; --ink-faint: #98a4a8; --line: #2c3538; --edge: #2c3538;
    --causal: #3fb8ab; --causal-soft: #1f4a46; --last-click: #b58d55; --baseline: #3a4448; --whisker: #e6eaea;
    --series-1: #7aa7ff; --series-2: #f08a5d; --series-3: #8b949a; --series-4: #d9b44a; --series-5: #5fe0d0;
    --warn-paper: #2b2614; --warn-edge: #7d6a2a;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0;
  background: var(--paper); color: var(--ink);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
}
main { max-width: 1000px; margin: 0 auto; padding: 56px 28px 72px; }
header p { max-width: none; }
header p, figcaption, .note { color: var(--ink-faint); }
h1 { font-size: 34px; line-height: 1.15; letter-spacing: -0.02em; margin: 0 0 8px; font-weight: 680; }
h2 { font-size: 21px; letter-spacing: -0.01em; margin: 56px 0 6px; font-weight: 650; }
h3 { font-size: 16px; margin: 24px 0 2px; font-weight: 650; }
p { margin: 0 0 10px; max-width: 72ch; overflow-wrap: anywhere; }
.tiles { display: grid; grid-template-columns: 1fr 1fr 1.4fr; gap: 14px; margin: 30px 0 26px; }
.tiles.four { grid-template-columns: repeat(2, 1fr); }
.tile { background: var(--card); border: 1px solid var(--edge); border-radius: 12px; padding: 16px 18px 14px; }
.tile b {
  display: block; margin: 2px 0;
  font-size: 29px; line-height: 1.2; letter-spacing: -0.02em; font-weight: 660; font-variant-numeric: tabular-nums;
}
.tile span { font-size: 13.5px; color: var(--ink-faint); display: block; line-height: 1.4; }
.tile span:first-child { color: var(--ink); font-weight: 560; }
.tile.lead b { color: var(--causal); }
.tile.beside p { font-size: 13.5px; line-height: 1.45; color: var(--ink-faint); margin: 4px 0 0; }
ul.findings { margin: 28px 0 0; padding: 0; list-style: none; border-top: 1px solid var(--edge); }
ul.findings li { padding: 12px 0; border-bottom: 1px solid var(--edge); max-width: none; overflow-wrap: anywhere; }
figure {
  margin: 18px 0 0; padding: 20px 20px 14px; overflow-x: auto;
  background: var(--card); border: 1px solid var(--edge); border-radius: 12px;
}
figure svg { display: block; width: 100%; height: auto; min-width: 620px; font-family: inherit; --paper: var(--card); }
figcaption { font-size: 13.5px; margin-top: 12px; max-width: 90ch; }
.scroll { overflow-x: auto; margin-top: 16px; }
table { border-collapse: collapse; width: 100%; font-size: 14.5px; font-variant-numeric: tabular-nums; }
th, td { padding: 9px 12px; text-align: right; white-space: nowrap; border-bottom: 1px solid var(--edge); }
th:first-child, td:first-child {
  min-width: 130px; padding-left: 2px;
  text-align: left; white-space: normal; overflow-wrap: anywhere;
}
thead th { color: var(--ink-faint); font-weight: 520; font-size: 13px; vertical-align: bottom; }
tbody th { font-weight: 500; }
tr.marketing > *, tr.total > * { font-weight: 660; }
tr.marketing > * { border-top: 1.5px solid var(--ink-faint); }
tr.baseline > * { color: var(--ink-faint); }
td.minus { color: var(--series-2); }
td.plus { color: var(--causal); }
.statements td { text-align: left; white-space: normal; vertical-align: top; min-width: 130px; }
.statements th { vertical-align: top; }
.statements thead th { text-align: left; }
.verdict { font-weight: 600; }
.verdict.pays, .verdict.adds { color: var(--causal); }
.verdict.loses, .verdict.harms { color: var(--series-2); }
.verdict.open, .verdict.unmeasured, .verdict.unjudged { color: var(--ink-faint); }
.warnings {
  margin: 28px 0 0; padding: 14px 20px;
  background: var(--warn-paper); border: 1px solid var(--warn-edge); border-radius: 12px;
}
.warnings.blocking { border: 2px solid var(--series-2); }
.warnings h2 { margin: 0 0 4px; font-size: 16px; }
.warnings ul { margin: 0; padding-left: 20px; }
.warnings li { overflow-wrap: anywhere; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 6px 22px; margin: 14px 0 0; font-size: 14.5px; }
dt { color: var(--ink-faint); }
dd { margin: 0; overflow-wrap: anywhere; }
code { font: 13px/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
footer {
  margin-top: 64px; padding-top: 16px; border-top: 1px solid var(--edge);
  color: var(--ink-faint); font-size: 13.5px;
}
@media (max-width: 760px) {
  .tiles { grid-template-columns: repeat(2, 1fr); }
  main { padding: 32px 16px 48px; }
  h1 { font-size: 27px; }
  .tile b { font-size: 24px; }
  dl { grid-template-columns: 1fr; gap: 0; }
  dd { margin-bottom: 8px; }
}
@page { size: A4; margin: 14mm; }
@media print {
  :root {
    color-scheme: light;
    --paper: #ffffff; --card: #ffffff; --ink: #111719; --ink-faint: #596268; --line: #e3e5e3; --edge: #d5d9d6;
    --causal: #0f766e; --causal-soft: #c5e4df; --last-click: #c9a26b; --baseline: #d7dbd8; --whisker: #111719;
    --series-1: #2563eb; --series-2: #c2410c; --series-3: #9ca3af; --series-4: #a16207; --series-5: #0f766e;
    --warn-paper: #fdf6e3; --warn-edge: #e5c76b;
  }
  * { -webkit-print-color-adjust: exact; print-color-adjust: exact; }
  main { max-width: none; padding: 0; }
  body { font-size: 11.5pt; }
  figure, .tile, .warnings, tr { break-inside: avoid; }
  h2, h2 + p { break-after: avoid; }
  .scroll, figure { overflow: visible; }
  table { font-size: 8.5pt; }
  th, td { padding: 5px 5px; }
  th:first-child, td:first-child { min-width: 0; }
  thead th { font-size: 8.5pt; white-space: normal; }
}
`;
