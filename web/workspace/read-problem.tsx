import { Trouble } from "../parts/trouble.tsx"
import { readOutdated } from "../state/workspace.ts"

/** The workspace could not be read: why, and once more. */
export const ReadProblem = ({ problem }: { readonly problem: unknown }) => (
  <Trouble problem={problem} onRetry={readOutdated} className="mx-3 md:mx-5" />
)
