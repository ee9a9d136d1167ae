// What a server counts: Prometheus text as {name: sum over all label sets}.
import { getText } from "./exchange.mjs";
import { authorization } from "./servers.mjs";

const SCRAPE_TIMEOUT_MS = 5000;

/** Of a case's server, at this moment. */
export async function scrapeMetrics({ server, metricNames }) {
  const url = `${server.url}/metrics`;
  const { text } = await getText(url, SCRAPE_TIMEOUT_MS, authorization(server));
  return sumMetrics(text, metricNames);
}

/** `metricNames`: where a server of another make names a metric differently, {ours: theirs}. */
export function sumMetrics(text, metricNames) {
  const sums = {};
  for (const line of text.split("\n")) {
    const [, name, value] = /^([A-Za-z_:][\w:]*)(?:\{.*\})?\s+(\S+)/.exec(line) ?? [];
    if (name !== undefined) sums[name] = (sums[name] ?? 0) + Number(value);
  }
  for (const [ours, theirs] of Object.entries(metricNames)) sums[ours] ??= sums[theirs];
  return sums;
}
