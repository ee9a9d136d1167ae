/** The gateway's time per turn by the length of the context, as an SVG for the README. */
import { writeFileSync } from "node:fs";
import path from "node:path";

const FILE = path.resolve(import.meta.dirname, "../results/gateway-time.svg");
const WIDTH = 720;
const HEIGHT = 300;
const MARGIN = { left: 52, right: 150, top: 36, bottom: 44 };
const SERIES = [
  { prefix: "gateway/submit/", name: "request to engine", color: "#2563eb" },
  { prefix: "gateway/delivery/", name: "engine to socket", color: "#d97706" },
];

/** @param rows of the result file; the end of an id is a number of tokens, the median a time in ms */
export function writePlot(rows) {
  const lines = SERIES.map((series) => ({ ...series, points: pointsOf(rows, series.prefix) }));
  const all = lines.flatMap(({ points }) => points);
  const scale = scaleOf(all);
  const parts = [...axes(scale), ...lines.flatMap((line) => curve(line, scale))];
  writeFileSync(FILE, svg(parts));
  return FILE;
}

function pointsOf(rows, prefix) {
  return rows
    .filter(({ id }) => id.startsWith(prefix))
    .map(({ id, ours }) => ({ tokens: Number(id.slice(prefix.length)), ms: ours.median }));
}

function scaleOf(points) {
  const tokens = points.map((point) => point.tokens);
  const topMs = Math.max(1, Math.ceil(Math.max(...points.map(({ ms }) => ms)) * 1.25));
  const [first, last] = [Math.log2(Math.min(...tokens)), Math.log2(Math.max(...tokens))];
  const innerWidth = WIDTH - MARGIN.left - MARGIN.right;
  const innerHeight = HEIGHT - MARGIN.top - MARGIN.bottom;
  return {
    tokens: [...new Set(tokens)].sort((a, b) => a - b),
    topMs,
    x: (count) => MARGIN.left + ((Math.log2(count) - first) / (last - first || 1)) * innerWidth,
    y: (ms) => MARGIN.top + (1 - ms / topMs) * innerHeight,
  };
}

function axes({ tokens, topMs, x, y }) {
  const right = WIDTH - MARGIN.right;
  const step = topMs > 4 ? Math.ceil(topMs / 4) : topMs / 4;
  const heights = Array.from({ length: 5 }, (_, index) => index * step).filter((ms) => ms <= topMs);
  return [
    text(MARGIN.left, 20, "Gateway time per turn, ms (median), by tokens of context", "start"),
    ...heights.flatMap((ms) => [
      `<line x1="${MARGIN.left}" x2="${right}" y1="${at(y(ms))}" y2="${at(y(ms))}" stroke="#e5e7eb"/>`,
      text(MARGIN.left - 8, y(ms) + 4, String(ms), "end"),
    ]),
    ...tokens.map((count) => text(x(count), HEIGHT - 20, `${count / 1000}k`, "middle")),
  ];
}

function curve({ name, color, points }, { x, y }) {
  const corners = points.map(({ tokens, ms }) => `${at(x(tokens))},${at(y(ms))}`);
  const last = points.at(-1);
  return [
    `<polyline points="${corners.join(" ")}" fill="none" stroke="${color}" stroke-width="2"/>`,
    ...points.map(
      ({ tokens, ms }) => `<circle cx="${at(x(tokens))}" cy="${at(y(ms))}" r="3" fill="${color}"/>`,
    ),
    ...(last ? [text(x(last.tokens) + 10, y(last.ms) + 4, name, "start", color)] : []),
  ];
}

const at = (position) => position.toFixed(1);

function text(x, y, words, anchor, color = "#374151") {
  return `<text x="${at(x)}" y="${at(y)}" text-anchor="${anchor}" fill="${color}">${words}</text>`;
}

function svg(parts) {
  const size = `width="${WIDTH}" height="${HEIGHT}" viewBox="0 0 ${WIDTH} ${HEIGHT}"`;
  const style = 'font-family="sans-serif" font-size="12"';
  const background = `<rect width="${WIDTH}" height="${HEIGHT}" fill="#ffffff"/>`;
  return `<svg xmlns="http://www.w3.org/2000/svg" ${size} ${style}>\n${[background, ...parts].join("\n")}\n</svg>\n`;
}
