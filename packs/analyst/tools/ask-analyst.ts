import { z } from "zod"
import {
  type Answer,
  answer,
  type CallContext,
  defineTool,
  failed,
  type QueryResults,
  type ResultId,
  type StoredResult,
  type Tool,
} from "../../../core/pack.ts"
import type { ChartCheck } from "../charts/check.ts"
import { type ChartData, toChartData } from "../chart-spec/chart-rows.ts"
import type { SpecObject } from "../charts/text.ts"
import { dayFormat } from "../chart-spec/day-format.ts"
import { defaultChart } from "../chart-spec/default-chart.ts"
import { firstRows, oddities } from "../markdown/result-markdown.ts"
import { type RefusedChart, writeChart } from "../charts/write-chart.ts"

/** The whole result of a question. */
export type DrawnResult = Omit<StoredResult, "createdAt">

export interface ChartPorts {
  readonly results: Pick<QueryResults, "find">
  readonly checker: Pick<ChartCheck, "check" | "warm">
  /** Asks the database, if a chart needs data that was not queried yet. */
  readonly ask?: Pick<Tool, "run">
}

const MENDS = 3
/** The time limit: one question to the database, and four to the model. */
const SECONDS = 180
const TABLE = { rows: 100, characters: 256_000 }
const NOTHING_TO_DRAW =
  "There is no result to draw yet. Ask a question about the database first, then ask for its chart."
const DRAWN = "The chart is drawn, and the person sees it."
/** The stored chart, which the model receives when it changes it later. */
const MAX_KEPT_SPEC = 8000

const Input = z.object({
  query: z.string().min(1).max(2000).describe("What the chart should show, in plain words."),
  question: z
    .string()
    .max(4000)
    .nullish()
    .describe("What to ask the database first, complete in itself. Leave it out to draw the last result."),
})

/**
 * Draws the conversation's newest result. The model writes the chart and the checker reports problems, up to three
 * times. If it cannot be drawn, a table is shown with the reason. A read, so it is repeated after a crash.
 */
export function askAnalyst({ results, checker, ask }: ChartPorts): Tool {
  return defineTool<z.infer<typeof Input>>({
    name: "ask_analyst",
    description:
      "Draws a chart of the last result of ask_database, or of a question that it asks first. The person sees the chart.",
    input: Input,
    effect: "read",
    afterCrash: "run-again",
    timeoutSeconds: SECONDS,
    taint: "both",
    examples: ["draw a bar chart of revenue by category", "chart revenue by month", "orders by month as a line chart"],
    async run({ query, question }, context) {
      checker.warm()
      const isNew = Boolean(question?.trim()) || resultIn(context.state) === undefined
      // A model passes `query` to request new data. The offline model only repeats the request for a chart.
      if (isNew && !question?.trim() && (await context.model()).provider === "offline") return failed(NOTHING_TO_DRAW)
      const asked = isNew && ask ? await ask.run({ query: question?.trim() || query }, context) : undefined
      if (asked && asked.status !== "ok") return asked
      const state = { ...context.state, ...asked?.state }
      const named = resultIn(state)
      if (!named) return failed(NOTHING_TO_DRAW)
      const result = (await results.find(context.user, named.resultId)) ?? wholeIn(named)
      if (!result) return failed("That result has expired: ask the database again, then draw it.")
      const drawn = await draw({ query, result, before: chartIn(state)?.spec }, { checker, context })
      return { ...drawn, state: { ...asked?.state, ...drawn.state } }
    },
  })
}

interface Wish {
  readonly query: string
  readonly result: DrawnResult
  readonly before: unknown
}

interface Means {
  readonly checker: ChartPorts["checker"]
  readonly context: CallContext
}

async function draw({ query, result, before }: Wish, { checker, context }: Means): Promise<Answer> {
  if (result.rows.length === 0 || result.columns.length === 0) return asTable(result, "the result has no rows")
  const data = toChartData(result.columns, result.rows)
  const model = await context.model()
  if (model.provider === "offline") {
    const plain = defaultChart(data, query)
    if (!plain) return asTable(result, "a table says it better: it takes two rows and a number to draw a chart")
    const verdict = await checker.check({ text: JSON.stringify(plain), columns: data.columns })
    return "spec" in verdict
      ? asChart(verdict.spec, { query, result, data, context })
      : asTable(result, verdict.problem)
  }
  const refused: RefusedChart[] = []
  const task = { request: query, data, ...(before ? { previous: JSON.stringify(before) } : {}) }
  while (refused.length <= MENDS) {
    const text = await writeChart({ model, signal: context.signal }, task, refused)
    const verdict = await checker.check({ text, columns: data.columns })
    if ("spec" in verdict) return asChart(verdict.spec, { query, result, data, context })
    refused.push({ text, problem: verdict.problem })
  }
  return asTable(result, `no chart could be made of it: ${refused.at(-1)?.problem}`)
}

interface Drawn {
  readonly query: string
  readonly result: DrawnResult
  readonly data: ChartData
  readonly context: CallContext
}

function asChart(spec: SpecObject, { query, result, data, context }: Drawn): Answer {
  const { id: resultId, connectionId, sql, hash: resultHash, columns, truncated, warnings } = result
  const whole = {
    $schema: "https://vega.github.io/schema/vega-lite/v6.json",
    description: query.slice(0, 200),
    ...spec,
    data: { values: data.rows, ...dayFormat(spec, data) },
  }
  const written = JSON.stringify(spec)
  const bound = { sql, resultId, resultHash }
  const cut = data.cut || result.truncated ? ` It shows the first ${data.rows.length} rows; there are more.` : ""
  return answer(
    `${DRAWN}${cut} What it is made of, without its rows:\n${written.slice(0, 2000)}${oddities(warnings)}`,
    {
      data: {
        kind: "chart",
        type: "vega_lite_spec",
        spec: whole,
        ...bound,
        connectionId,
        columns,
        rowCount: result.rows.length,
        truncated,
        ...(warnings ? { warnings } : {}),
      },
      state: { chart: { callId: context.callId, ...bound, ...(written.length <= MAX_KEPT_SPEC ? { spec } : {}) } },
    },
  )
}

function asTable(result: DrawnResult, why: string): Answer {
  const { id: resultId, connectionId, sql, hash: resultHash, columns, rows, truncated, warnings } = result
  const odd = warnings ? { warnings } : {}
  const common = { resultId, connectionId, sql, resultHash, columns, rowCount: rows.length, truncated, ...odd }
  const because = why.replace(/\.$/, "")
  return answer(`Shown as a table instead of a chart, because ${because}.${oddities(warnings)}`, {
    data: { kind: "table", ...common, rows: firstRows(rows, TABLE) },
  })
}

interface NamedResult {
  readonly resultId: ResultId
  readonly [field: string]: unknown
}

function resultIn({ sqlResult }: Readonly<Record<string, unknown>>): NamedResult | undefined {
  const named = sqlResult as NamedResult | undefined
  return typeof named?.resultId === "string" ? named : undefined
}

/** Results expire, but the state has the first rows: if these are all, they are enough. */
function wholeIn({ resultId: id, rows, rowCount, ...rest }: NamedResult): DrawnResult | undefined {
  if (!Array.isArray(rows) || rows.length !== rowCount) return undefined
  return { id, rows, ...rest } as unknown as DrawnResult
}

const chartIn = ({ chart }: Readonly<Record<string, unknown>>) => chart as { readonly spec?: unknown } | undefined
