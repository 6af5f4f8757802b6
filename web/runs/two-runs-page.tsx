import { useMemo } from "react"
import { dollars, duration, toTimeline, type Totals } from "../../src/client/index.ts"
import type { RecordedEvent, Run } from "../../src/protocol/index.ts"
import { explain } from "../parts/explain.ts"
import { Link } from "../parts/link.tsx"
import { Trouble } from "../parts/trouble.tsx"
import { PageHeader } from "../shell/page-header.tsx"
import { useFollowedRun } from "./followed-run.ts"
import { ownRun } from "./own-run.ts"
import { headWords } from "./run-words.ts"
import { Timeline } from "./timeline.tsx"

/** Two runs of the person's own, their sums against each other and their timelines side by side. */
export function TwoRunsPage({ id, other }: { readonly id: string; readonly other: string }) {
  const [left, right] = [useFollowedRun(() => ownRun(id)), useFollowedRun(() => ownRun(other))]
  return (
    <>
      <PageHeader title="Two runs beside each other" />
      <div className="min-h-0 flex-1 overflow-y-auto">
        <div className="mx-auto w-full max-w-6xl px-3 pb-10 md:px-6">
          {left.run && right.run && <Sums left={left.rows} right={right.rows} />}
          <div className="grid gap-x-10 gap-y-6 lg:grid-cols-2">
            <Column name="First run" id={id} {...left} />
            <Column name="Second run" id={other} {...right} />
          </div>
        </div>
      </div>
    </>
  )
}

interface ColumnProps {
  readonly name: string
  readonly id: string
  readonly run: Run | undefined
  readonly rows: readonly RecordedEvent[]
  readonly problem: unknown
  readonly refresh: () => Promise<void>
}

function Column({ name, id, run, rows, problem, refresh }: ColumnProps) {
  const timeline = useMemo(() => toTimeline(rows), [rows])
  return (
    <section aria-label={name} className="min-w-0">
      <h2 className="font-serif text-xl">
        <Link to={`/runs/${id}`} className="underline-offset-2 hover:underline">
          {name}
        </Link>
      </h2>
      <p className="mb-2 text-[13px] text-faint">{run ? headWords(run) : problem === undefined ? "Reading …" : ""}</p>
      {run === undefined && problem !== undefined && <p className="text-sm text-warn">{explain(problem)}</p>}
      {run && <Trouble problem={problem} onRetry={refresh} />}
      {run && <Timeline timeline={timeline} rows={rows} status={run.status} onState={undefined} />}
    </section>
  )
}

const plain = (value: number) => value.toLocaleString()

const SUMS: readonly (readonly [name: string, of: keyof Totals, toWords: (value: number) => string])[] = [
  ["In all", "ms", duration],
  ["Models", "modelMs", duration],
  ["Calls", "callMs", duration],
  ["Waited", "waitingMs", duration],
  ["Model calls", "modelCalls", plain],
  ["Calls made", "calls", plain],
  ["Restarts", "restarts", plain],
  ["Retries", "retries", plain],
  ["Fallbacks", "fallbacks", plain],
  ["Tokens in", "inputTokens", plain],
  ["Of these cached", "cachedTokens", plain],
  ["Tokens out", "outputTokens", plain],
  ["Cost", "cost", dollars],
]

interface SumsProps {
  readonly left: readonly RecordedEvent[]
  readonly right: readonly RecordedEvent[]
}

function Sums({ left, right }: SumsProps) {
  const [a, b] = useMemo(() => [toTimeline(left).totals, toTimeline(right).totals], [left, right])
  const isSaid = (of: keyof Totals) => Boolean(a[of]) || Boolean(b[of])
  return (
    <table aria-label="In sum" className="mb-6 w-full max-w-md text-sm">
      <thead>
        <tr className="text-left text-faint">
          <th scope="col" className="py-1 font-normal" />
          <th scope="col" className="py-1 text-right font-normal">
            First
          </th>
          <th scope="col" className="py-1 text-right font-normal">
            Second
          </th>
        </tr>
      </thead>
      <tbody>
        {SUMS.filter(([, of]) => isSaid(of)).map(([name, of, toWords]) => (
          <tr key={of} className="border-t border-line">
            <th scope="row" className="py-1 text-left font-normal text-soft">
              {name}
            </th>
            {[a[of], b[of]].map((value, index) => (
              <td key={index} className="py-1 text-right tabular-nums">
                {value === null ? "not known" : toWords(value)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
}
