import { Button } from "../parts/button.tsx"
import { explain } from "../parts/explain.ts"
import { readOutdated } from "../state/workspace.ts"

/** The workspace could not be read: why, and once more. */
export function ReadProblem({ problem }: { readonly problem: unknown }) {
  if (problem === undefined) return null
  return (
    <div
      role="alert"
      className="mx-3 mb-3 flex flex-wrap items-center gap-3 rounded-xl bg-warn-soft px-4 py-2 text-sm text-warn md:mx-5"
    >
      <p className="flex-1">{explain(problem)}</p>
      <Button small onClick={() => void readOutdated()}>
        Try again
      </Button>
    </div>
  )
}
