import { useMemo } from "react"
import { toTimeline, type Totals } from "../../../client/index.ts"
import type { RecordedEvent, Run } from "../../../core/protocol/index.ts"
import { explain } from "../components/explain.ts"
import { Link } from "../components/button.tsx"
import { LoadProblem } from "../components/use-loaded.tsx"
import { TextPage } from "../shell/page-header.tsx"
import { ownRun, useFollowedRun } from "./followed-run.ts"
import { describeRun } from "./describe-run.ts"
import { Timeline } from "./timeline.tsx"
import { type Key, t } from "../strings/strings.ts"
import { dollars, duration, number } from "../strings/format.ts"

/** Two runs of the person: their totals compared, and their timelines side by side. */
export function CompareRunsPage({ id, other }: { readonly id: string; readonly other: string }) {
  const [left, right] = [useFollowedRun(() => ownRun(id)), useFollowedRun(() => ownRun(other))]
  return (
    <TextPage title={t("runs.twoRuns")} width="max-w-6xl">
      {left.run && right.run && <Sums left={left.rows} right={right.rows} />}
      <div className="grid gap-x-10 gap-y-6 lg:grid-cols-2">
        <Column name={t("runs.firstRun")} id={id} {...left} />
        <Column name={t("runs.secondRun")} id={other} {...right} />
      </div>
    </TextPage>
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
      <p className="mb-2 text-[13px] text-faint">
        {run ? describeRun(run) : problem === undefined ? t("common.loading") : ""}
      </p>
      {run === undefined && problem !== undefined && <p className="text-sm text-warn">{explain(problem)}</p>}
      {run && <LoadProblem problem={problem} onRetry={refresh} />}
      {run && <Timeline timeline={timeline} rows={rows} status={run.status} onState={undefined} />}
    </section>
  )
}

const SUMS: readonly (readonly [label: Key, of: keyof Totals, toWords: (value: number) => string])[] = [
  ["runs.sumAll", "ms", duration],
  ["runs.sumModels", "modelMs", duration],
  ["runs.sumCalls", "callMs", duration],
  ["runs.sumWaited", "waitingMs", duration],
  ["runs.sumModelCalls", "modelCalls", number],
  ["runs.sumToolCalls", "calls", number],
  ["runs.sumRestarts", "restarts", number],
  ["runs.sumRetries", "retries", number],
  ["runs.sumFallbacks", "fallbacks", number],
  ["runs.sumTokensIn", "inputTokens", number],
  ["runs.sumCached", "cachedTokens", number],
  ["runs.sumTokensOut", "outputTokens", number],
  ["runs.sumCost", "cost", dollars],
]

interface SumsProps {
  readonly left: readonly RecordedEvent[]
  readonly right: readonly RecordedEvent[]
}

function Sums({ left, right }: SumsProps) {
  const [a, b] = useMemo(() => [toTimeline(left).totals, toTimeline(right).totals], [left, right])
  const isSameText = (of: keyof Totals) => Boolean(a[of]) || Boolean(b[of])
  return (
    <table aria-label={t("runs.totals")} className="mb-6 w-full max-w-md text-sm">
      <thead>
        <tr className="text-left text-faint">
          <th scope="col" className="py-1 font-normal" />
          <th scope="col" className="py-1 text-right font-normal">
            {t("runs.first")}
          </th>
          <th scope="col" className="py-1 text-right font-normal">
            {t("runs.second")}
          </th>
        </tr>
      </thead>
      <tbody>
        {SUMS.filter(([, of]) => isSameText(of)).map(([label, of, toWords]) => (
          <tr key={of} className="border-t border-line">
            <th scope="row" className="py-1 text-left font-normal text-soft">
              {t(label)}
            </th>
            {[a[of], b[of]].map((value, index) => (
              <td key={index} className="py-1 text-right tabular-nums">
                {value === null ? t("runs.unknown") : toWords(value)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
}
