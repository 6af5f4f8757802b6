/** Why a chart is refused, in words that say what to mend. Only thrown and caught while one is looked through. */
export class ChartProblem extends Error {}

export function refuse(words: string): never {
  throw new ChartProblem(words)
}

/** A place in a specification as people write it: `encoding.x.axis`. */
export const specPath = (path: readonly (string | number)[]): string => (path.length > 0 ? path.join(".") : "the top")
