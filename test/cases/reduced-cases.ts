/** Smaller forms of the cases that take an hour of two slow cores. `run.mjs --only ID` runs them as they are. */

export interface Case {
  readonly id: string;
  readonly title: string;
  readonly input: object;
}

interface Reduction {
  readonly note: string;
  /** In the input as JSON. */
  readonly from: string;
  readonly to: string;
}

const REDUCTIONS: Readonly<Record<string, Reduction>> = {
  "STR-11": {
    note: "prompts of 50 tokens instead of 6,000",
    from: 'stone ",3000]',
    to: 'stone ",8]',
  },
};

/** The case as the suite runs it; its title says so where it is another one. */
export function reduceCase(item: Case): Case {
  const reduction = REDUCTIONS[item.id];
  if (reduction === undefined) return item;
  const input = JSON.stringify(item.input);
  if (!input.includes(reduction.from)) throw new Error(`${item.id} has no ${reduction.from}`);
  return {
    ...item,
    title: `${item.title} (${reduction.note})`,
    input: JSON.parse(input.replaceAll(reduction.from, reduction.to)),
  };
}
