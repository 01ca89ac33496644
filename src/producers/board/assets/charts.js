// The charts of one migration. What they show is in words beside them, so they are hidden from screen readers.
import uPlot from "/assets/uplot.js";
import { bytes, seconds } from "/assets/figures.js";

const HEIGHT = 120;
const KEPT = 600;
/** seconds */
const GAP = 6;
/** Who wants less motion gets a new picture every five seconds. */
const calm = matchMedia("(prefers-reduced-motion: reduce)");
const dark = matchMedia("(prefers-color-scheme: dark)");
const compact = new Intl.NumberFormat("en-US", { notation: "compact", maximumFractionDigits: 1 });

const CHARTS = {
  rates: { columns: [1, 2], colours: ["--copied", "--applied"], text: (v) => compact.format(v), least: 10 },
  lag: { columns: [3], colours: ["--lag"], text: (v) => seconds(v), least: 1 },
  backlog: { columns: [4], colours: ["--backlog"], text: (v) => bytes(v), least: 1024, incrs: Array.from({ length: 45 }, (_, i) => 2 ** i) },
};

export class Charts {
  constructor(root) {
    this.points = [];
    this.plots = [];
    this.drawnAt = 0;
    this.figures = [...root.querySelectorAll("figure[data-chart]")];
    this.sizes = new ResizeObserver(() => this.fit());
    for (const figure of this.figures) this.sizes.observe(figure);
    this.onScheme = () => this.rebuild();
    dark.addEventListener("change", this.onScheme);
  }

  setHistory(points) {
    this.points = points.slice(-KEPT);
    this.draw(true);
  }

  add(point) {
    this.points.push(point);
    if (this.points.length > KEPT) this.points.shift();
    this.draw(false);
  }

  close() {
    dark.removeEventListener("change", this.onScheme);
    this.sizes.disconnect();
    for (const plot of this.plots) plot.destroy();
  }

  draw(now) {
    if (!now && performance.now() - this.drawnAt < (calm.matches ? 5000 : 500)) return;
    if (this.points.length < 2 || document.hidden) return;
    this.drawnAt = performance.now();
    if (this.plots.length === 0) this.rebuild();
    else this.plots.forEach((plot, i) => plot.setData(this.data(CHARTS[this.figures[i].dataset.chart])));
  }

  data({ columns }) {
    const points = [];
    for (const point of this.points) {
      const before = points.at(-1);
      // Nobody looked for a while: a gap, no line.
      if (before !== undefined && point[0] - before[0] > GAP) points.push([before[0] + 1, null, null, null, null]);
      points.push(point);
    }
    return [points.map((p) => p[0]), ...columns.map((column) => points.map((p) => p[column]))];
  }

  rebuild() {
    for (const plot of this.plots) plot.destroy();
    if (this.points.length < 2) return;
    const style = getComputedStyle(document.documentElement);
    const colour = (name) => style.getPropertyValue(name).trim();
    this.plots = this.figures.map((figure) => {
      const chart = CHARTS[figure.dataset.chart];
      const axis = { stroke: colour("--muted"), font: "11px system-ui, sans-serif", grid: { stroke: colour("--line"), width: 1 }, ticks: { show: false } };
      const options = {
        width: Math.max(120, figure.clientWidth), height: HEIGHT, padding: [8, 8, 0, 0], legend: { show: false }, cursor: { show: false },
        scales: { x: { time: true }, y: { range: (_plot, _low, high) => [0, Math.max(chart.least, (high ?? 0) * 1.1)] } },
        axes: [{ ...axis, size: 22, space: 90, grid: { show: false }, values: (_plot, ticks) => ticks.map((t) => new Date(t * 1000).toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" })) },
          { ...axis, size: 58, space: 32, ...(chart.incrs ? { incrs: chart.incrs } : {}), values: (_plot, ticks) => ticks.map((v) => chart.text(v)) }],
        series: [{}, ...chart.colours.map((name) => ({ stroke: colour(name), width: 2, fill: `${colour(name)}22`, points: { show: false } }))],
      };
      return new uPlot(options, this.data(chart), figure.querySelector(".plot"));
    });
  }

  fit() {
    this.plots.forEach((plot, i) => {
      const width = Math.max(120, this.figures[i].clientWidth);
      if (width !== plot.width) plot.setSize({ width, height: HEIGHT });
    });
  }
}
