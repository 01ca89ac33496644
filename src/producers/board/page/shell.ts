/** The page's markup: all of it, with a template per migration, so that the script only fills in texts and numbers. */

export interface ShellOptions {
  readOnly: boolean;
}

const CARD = `
<template id="card">
<article class="card">
  <header>
    <h2></h2>
    <span class="phase"></span>
    <p class="verdict"><span class="mark" aria-hidden="true"></span><span class="verdict-text"></span></p>
  </header>
  <ul class="checks" aria-label="What speaks for and against a cut-over now"></ul>
  <div class="attention" hidden></div>
  <div class="copy">
    <label><span class="copy-label">Copy</span><progress></progress></label>
    <span class="copy-text"></span>
  </div>
  <dl class="figures"></dl>
  <div class="charts">
    <figure data-chart="rates"><figcaption>Rows per second <span class="key copied">copied</span> <span class="key applied">applied</span></figcaption><div class="plot" aria-hidden="true"></div></figure>
    <figure data-chart="lag"><figcaption>Lag</figcaption><div class="plot" aria-hidden="true"></div></figure>
    <figure data-chart="backlog"><figcaption>Backlog</figcaption><div class="plot" aria-hidden="true"></div></figure>
  </div>
  <details class="tables">
    <summary></summary>
    <table>
      <thead><tr><th scope="col">Table</th><th scope="col">Progress</th><th scope="col" class="number">Rows</th><th scope="col">Phase</th></tr></thead>
      <tbody></tbody>
    </table>
    <p class="more" hidden></p>
  </details>
  <section class="diff">
    <h3>Comparison</h3>
    <p class="diff-text"></p>
    <progress class="diff-progress" max="100" hidden aria-label="Comparison"></progress>
    <details class="samples" hidden><summary></summary><table><thead><tr><th scope="col">Table</th><th scope="col">What</th><th scope="col">Key</th><th scope="col">Columns</th></tr></thead><tbody></tbody></table></details>
  </section>
  <div class="actions">
    <button type="button" data-action="pause">Pause</button>
    <button type="button" data-action="resume">Resume</button>
    <button type="button" data-action="diff">Compare</button>
    <button type="button" data-action="stop" class="dangerous">Stop …</button>
    <p class="outcome" role="status"></p>
  </div>
</article>
</template>`;

const EMPTY = `
<template id="empty">
<section class="empty">
  <h2>No migrations yet</h2>
  <p>Write what is to be moved into a file, <code>shop.yaml</code>:</p>
  <pre>id: shop
source: SRC        # DROVER_CONNECTION_SRC
target: DST        # DROVER_CONNECTION_DST
tables:
  - schema: shop</pre>
  <p>Then, with the same settings as this board has:</p>
  <pre>drover check shop.yaml     # looks for problems, changes nothing
drover worker &amp;            # as many as you like, on any hosts
drover start shop.yaml</pre>
  <p>It appears here at once.</p>
</section>
</template>`;

export function shell({ readOnly }: ShellOptions): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Drover</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/assets/uplot.css">
<link rel="stylesheet" href="/assets/board.css">
<script type="module" src="/assets/board.js"></script>
</head>
<body${readOnly ? ' data-read-only="true"' : ""}>
<a class="skip" href="#main">To the migrations</a>
<header class="top">
<h1>Drover</h1>
<p id="connection" data-state="waiting">connecting …</p>
<nav aria-label="Board"><a href="/queues">Queues</a> <a href="/metrics">Metrics</a> <a href="/progress.json">JSON</a></nav>
</header>
<main id="main" tabindex="-1">
<div id="notes"></div>
<div id="migrations"><p class="loading">Asking the servers …</p></div>
<noscript><p>This page needs JavaScript. <a href="/progress.json">The same as JSON</a>; on a terminal: <code>drover status --watch</code>.</p></noscript>
</main>
<p id="announce" class="hidden-text" role="status" aria-live="polite"></p>
<dialog id="confirm" aria-labelledby="confirm-title">
<form method="dialog">
<h2 id="confirm-title"></h2>
<p>It ends for good: changes of the source are not followed any more, and it cannot be resumed. The rows on the target stay.</p>
<div class="actions"><button value="cancel" autofocus>Keep it</button> <button value="stop" class="dangerous">Stop it</button></div>
</form>
</dialog>
<footer>${readOnly ? "<span>Read-only: this board changes nothing.</span> " : ""}<span>Keys of rows are shown where both sides differ, values never.</span> <a href="/assets/uplot-licence.txt">Licence of the charts (uPlot)</a></footer>
${CARD}
${EMPTY}
</body>
</html>
`;
}
