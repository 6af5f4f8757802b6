/** The reason why a chart is refused, as a sentence that says what to fix. Thrown and caught only within the check. */
export class ChartProblem extends Error {}

export function refuse(words: string): never {
  throw new ChartProblem(words)
}

/** A path in a specification as people write it: `encoding.x.axis`. */
export const specPath = (path: readonly (string | number)[]): string => (path.length > 0 ? path.join(".") : "the top")
