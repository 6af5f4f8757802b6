import type { IngestProgress } from "../../src/protocol/index.ts"
import { Plain } from "../parts/plain.tsx"
import { aboutTime, count, time } from "../parts/words.ts"

interface IngestBarProps {
  /** What is read in. */
  readonly name: string
  readonly progress: IngestProgress
}

/** How far a collection is, how long the rest takes as far as that is known, and why it stands still where it does. */
export function IngestBar({ name, progress }: IngestBarProps) {
  const { documents, embedded, passages, secondsLeft, problem, retryAt } = progress
  const left = secondsLeft === undefined ? "how long the rest takes is not known yet" : `${aboutTime(secondsLeft)} left`
  return (
    <div className="mb-3 rounded-xl bg-sunken px-4 py-3 text-sm">
      <progress
        className="block h-1.5 w-full"
        aria-label={`Reading in ${name}`}
        max={Math.max(passages, 1)}
        value={embedded}
      />
      <p className="mt-2">
        {embedded.toLocaleString()} of {count(passages, "passage")} found by meaning
        {problem === undefined && ` · ${left}`}
      </p>
      {problem !== undefined && (
        <p role="alert" className="mt-1 text-danger">
          <Plain text={problem} />
          {retryAt !== undefined && ` It is tried again by itself at ${time(retryAt)}.`}
        </p>
      )}
      <p className="mt-1 text-[13px] text-faint">
        {count(documents, "document is", "documents are")} being read in. By words all of it is found already. You may
        close this page; it goes on, also after the server was stopped.
      </p>
    </div>
  )
}
