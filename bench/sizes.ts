/** How much each workload does: `quick` proves that it runs, `usual` measures, `full` is for claims. */
export interface Sizes {
  /** The number of rounds of floor, ours, floor. The median of their ratios counts. */
  readonly rounds: number
  readonly w1: { readonly warmMs: number; readonly ms: number }
  readonly w2: { readonly warmMs: number; readonly turns: number }
  readonly w3: { readonly deltas: number; readonly passes: number }
  readonly w4: { readonly paused: number; readonly resumes: number }
  readonly w5: { readonly starts: number }
  readonly w6: {
    readonly warmTurns: number
    readonly turns: number
    readonly deltas: number
    readonly passes: number
    readonly watchers: number
    readonly trips: number
  }
  readonly w7: { readonly running: number }
  readonly w8: { readonly vectors: number; readonly passages: number; readonly queries: number }
  readonly w9: { readonly starts: number }
  readonly w11: {
    readonly watchers: number
    readonly deltas: number
    readonly everyMs: number
    readonly passes: number
  }
  readonly w12: { readonly times: number }
  readonly w13: { readonly passes: number }
  readonly w14: { readonly files: number; readonly searches: number }
}

export const sizes: Record<"quick" | "usual" | "full", Sizes> = {
  quick: {
    rounds: 1,
    w1: { warmMs: 50, ms: 100 },
    w2: { warmMs: 50, turns: 40 },
    w3: { deltas: 200, passes: 5 },
    w4: { paused: 200, resumes: 20 },
    w5: { starts: 1 },
    w6: { warmTurns: 5, turns: 10, deltas: 200, passes: 2, watchers: 20, trips: 50 },
    w7: { running: 30 },
    w8: { vectors: 2000, passages: 500, queries: 10 },
    w9: { starts: 1 },
    w11: { watchers: 100, deltas: 5, everyMs: 20, passes: 1 },
    w12: { times: 1 },
    w13: { passes: 1 },
    w14: { files: 300, searches: 4 },
  },
  usual: {
    rounds: 1,
    w1: { warmMs: 2500, ms: 1500 },
    w2: { warmMs: 1000, turns: 400 },
    w3: { deltas: 2000, passes: 100 },
    w4: { paused: 10_000, resumes: 100 },
    w5: { starts: 6 },
    w6: { warmTurns: 2500, turns: 1500, deltas: 2000, passes: 25, watchers: 1000, trips: 5000 },
    w7: { running: 1000 },
    w8: { vectors: 100_000, passages: 100_000, queries: 30 },
    w9: { starts: 7 },
    w11: { watchers: 5000, deltas: 50, everyMs: 20, passes: 5 },
    w12: { times: 20 },
    w13: { passes: 5 },
    w14: { files: 3000, searches: 40 },
  },
  full: {
    rounds: 3,
    w1: { warmMs: 5000, ms: 4000 },
    w2: { warmMs: 2000, turns: 2000 },
    w3: { deltas: 2000, passes: 400 },
    w4: { paused: 10_000, resumes: 400 },
    w5: { starts: 10 },
    w6: { warmTurns: 5000, turns: 3000, deltas: 2000, passes: 100, watchers: 1000, trips: 20_000 },
    w7: { running: 1000 },
    w8: { vectors: 100_000, passages: 100_000, queries: 100 },
    w9: { starts: 15 },
    w11: { watchers: 5000, deltas: 100, everyMs: 20, passes: 9 },
    w12: { times: 50 },
    w13: { passes: 15 },
    w14: { files: 3000, searches: 100 },
  },
}
