import { useTryAgain } from "../state/when-back.ts"
import { Button } from "./button.tsx"
import { explain } from "./explain.ts"

interface TroubleProps {
  /** What could not be read; undefined where all is well. */
  readonly problem: unknown
  readonly onRetry: () => Promise<void>
  readonly className?: string
}

/** Something could not be read: why, and once more; by itself where the server was merely away. */
export function Trouble({ problem, onRetry, className = "" }: TroubleProps) {
  const isTrying = useTryAgain(problem, onRetry)
  if (problem === undefined) return null
  return (
    <div
      role="alert"
      className={`mb-3 flex flex-wrap items-center gap-3 rounded-xl bg-warn-soft px-4 py-2 text-sm text-warn ${className}`}
    >
      <p className="min-w-40 flex-1">
        {explain(problem)}
        {isTrying && " It is tried again by itself."}
      </p>
      <Button small onClick={() => void onRetry()}>
        Try now
      </Button>
    </div>
  )
}
