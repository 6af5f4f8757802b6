/** Limits of a chart. Each is far above what a person can read, and far below what makes a browser slow. */
export const chartLimits = {
  bytes: 32 * 1024,
  depth: 30,
  /** Views: layers, concatenated and repeated ones. */
  views: 24,
  transforms: 30,
  /** Rows that transforms may create. */
  rows: 100_000,
  list: 500,
  /** Cells of a facet. */
  facets: 60,
  repeats: 12,
  bins: 500,
  steps: 1000,
  ticks: 200,
  pixels: 2000,
  expression: 1000,
  text: 1000,
} as const
