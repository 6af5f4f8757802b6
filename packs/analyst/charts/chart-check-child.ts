import { compile } from "vega-lite"
import { checkExpression } from "./expressions.ts"
import { withFields } from "./fields.ts"
import { ChartProblem, specPath, refuse } from "./problem.ts"
import type { ChartColumn } from "../chart-spec/chart-rows.ts"
import { checkWords } from "./rules.ts"
import { loadChartSchema } from "./schema.ts"
import { isObject, type SpecObject, readChartText } from "./text.ts"
import { checkTransforms } from "./transforms.ts"
import { checkViews, asList } from "./views.ts"

export interface ChartQuestion {
  /** The text that the model wrote. */
  readonly text: string
  readonly columns: readonly ChartColumn[]
}

/** A valid specification without data; or the problem. */
export type ChartVerdict = { readonly spec: SpecObject } | { readonly problem: string }

/** A process that checks charts. Its parent ends it when a check takes too long; it exits when the parent does. */
const checkSchema = await loadChartSchema()
process.on("disconnect", () => process.exit())
process.on("message", (question: ChartQuestion) => process.send?.(judge(question)))
process.send?.("ready")

function judge({ text, columns }: ChartQuestion): ChartVerdict {
  const read = readChartText(text)
  if ("problem" in read) return read
  try {
    return { spec: check(read.spec, columns) }
  } catch (error) {
    if (error instanceof ChartProblem) return { problem: error.message.slice(0, 1000) }
    return { problem: `Vega-Lite cannot read it (${String((error as Error)?.message).slice(0, 300)})` }
  }
}

/** Four independent checks: allowed words, existing columns, the schema, and Vega-Lite's own compiler. */
function check(written: SpecObject, columns: readonly ChartColumn[]): SpecObject {
  const { $schema: _, data, ...rest } = written
  const expressions = checkWords({ ...rest, ...withoutRows(data) })
  const params = checkParams(rest.params)
  const ofResult = new Map(columns.map((column) => [column.name, column]))
  const made = checkTransforms(rest, ofResult)
  const known = new Set([...ofResult.keys(), ...made])
  for (const found of expressions) checkExpression(found, known, params)
  checkViews(rest, columns)
  const spec = withFields(rest, { ofResult, made })
  checkSchema({ ...spec, data: { name: "result" } })
  checkCompiled(spec)
  return spec
}

/** Removes rows that a model has repeated, because ours replace them. Other data is refused. */
const withoutRows = (data: unknown): SpecObject =>
  isObject(data) && Object.keys(data).every((key) => key === "values" || key === "name")
    ? {}
    : { ...(data === undefined ? {} : { data }) }

/** The names of constants. */
function checkParams(params: unknown): Set<string> {
  const names = new Set<string>()
  for (const [at, param] of asList(params).entries()) {
    const name = isObject(param) ? param.name : undefined
    if (!isObject(param) || Object.keys(param).some((key) => !["name", "value", "expr"].includes(key)))
      refuse(`${specPath(["params", at])} may have a name and a value, and nothing else`)
    if (
      typeof name !== "string" ||
      !/^[a-zA-Z]\w{0,40}$/.test(name) ||
      ["datum", "event", "item"].includes(name) ||
      name in Object.prototype
    )
      refuse(`${specPath(["params", at])}.name must be a word of letters and digits`)
    names.add(name as string)
  }
  return names
}

/**
 * Checks what the schema permits and Vega-Lite does not support: compiling throws, or warns that something was ignored.
 */
function checkCompiled(spec: SpecObject): void {
  const warnings: string[] = []
  const logger = {
    level: () => logger,
    error: (...words: unknown[]) => note(words),
    warn: (...words: unknown[]) => note(words),
    info: () => logger,
    debug: () => logger,
  }
  const note = (words: readonly unknown[]) => {
    warnings.push(words.map(String).join(" "))
    return logger
  }
  compile({ ...spec, data: { name: "result" } } as never, { logger: logger as never })
  const lost = warnings.find((warning) =>
    /dropp|invalid|incompatible|cannot|unsupported|does not work|missing/i.test(warning),
  )
  if (lost) refuse(`Vega-Lite says: ${lost.slice(0, 300)}`)
}
