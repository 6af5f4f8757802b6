import { z } from "zod"
import {
  answer,
  defineTool,
  type DeviceFilters,
  type OpenWorkspace,
  type Tool,
  workspaceTables,
} from "../../core/pack.ts"
import { describeRow, nounOf } from "./describe-row.ts"
import { type Desk, openDesk, type DeskRow } from "./tables/desk.ts"
import { findRowByName } from "./tables/find-row.ts"
import { loadNames } from "./load-names.ts"
import { describeMalformedRows } from "./device/malformed-rows.ts"
import { orSentence } from "./or-sentence.ts"
import { cached } from "./tables/cached.ts"
import type { Filter, List, TableSpec } from "./tables/table.ts"

/** At most this many rows are listed; the others are only counted, with a hint at what to ask instead. */
const MAX_SHOWN = 100

type Given = Readonly<Record<string, unknown>>

/** Lists the rows of a table that match the filters. */
export function listTool(table: TableSpec, list: List, open: OpenWorkspace): Tool {
  const { name, description, examples } = list
  return defineTool<Given>({
    name,
    description,
    input: inputOf(list),
    effect: "read",
    onSite: "workspace",
    taint: "private",
    afterCrash: "run-again",
    examples,
    run: (given, context) =>
      orSentence(async () => {
        const desk = openDesk(open, context)
        const { asked, words, keeps } = await readFilters(table, list, { given, desk })
        // Filters that the workspace does not support are applied here, which needs all rows for the count.
        const most = keeps.length > 0 ? {} : { most: MAX_SHOWN }
        const columns = columnsOf(table)
        const options = { ...most, columns }
        const { rows, odd, total } = await desk.workspace.list(table.name, asked, options)
        const matching = rows.filter((row) => keeps.every((keep) => keep(row)))
        const shown = matching.slice(0, MAX_SHOWN)
        await loadNames(table, shown, desk)
        const others = total === undefined ? undefined : total - odd.length - rows.length
        const found = others === undefined ? undefined : matching.length + Math.max(0, others)
        const data = {
          [table.plural]: shown.map((row) => only(row, columns)),
          ...(found === undefined ? {} : { total: found }),
          ...(odd.length > 0 ? { odd } : {}),
        }
        const text = toSentences({ table, list, words, found }, shown, desk)
        return answer(text + describeMalformedRows(odd, nounOf(table)), { data })
      }),
  })
}

const inputOf = cached(({ filters }: List) => {
  const input = filters.map(({ argument, schema, about, required }) => [
    argument,
    (required ? schema : schema.nullish()).describe(about),
  ])
  return z.strictObject(Object.fromEntries(input)) as z.ZodType<Given>
})

/** All columns except long ones that a list does not show. */
function columnsOf({ name, unlisted = [] }: TableSpec): string[] {
  return Object.keys(workspaceTables[name].row.shape).filter((column) => !unlisted.includes(column))
}

const only = (row: DeskRow, columns: readonly string[]): DeskRow =>
  Object.fromEntries(columns.filter((column) => column in row).map((column) => [column, row[column] ?? null]))

async function readFilters(
  table: TableSpec,
  { filters, always, words: own = "" }: List,
  { given, desk }: { readonly given: Given; readonly desk: Desk },
): Promise<{ asked: DeviceFilters; words: string; keeps: ((row: DeskRow) => boolean)[] }> {
  const asked: Record<string, unknown> = { ...always?.(desk) }
  const keeps: ((row: DeskRow) => boolean)[] = []
  let words = own
  for (const { argument, key, refers, means, narrows, words: toWords } of filters) {
    const value = given[argument]
    if (value === null || value === undefined || value === "") continue
    const narrowed = narrows?.(String(value), desk)
    if (narrowed?.keeps) keeps.push(narrowed.keeps)
    const meant = key ? await meaning({ refers, means }, value, desk) : undefined
    Object.assign(asked, narrowed?.asked, key ? { [key]: meant } : {})
    words += toWords?.(refers ? String(desk.names.get(String(meant)) ?? meant) : String(value)) ?? ""
  }
  // Days depend on the user's time zone, also if the workspace is on the server.
  const { days = {}, due } = workspaceTables[table.name]
  const isByDay = Object.hasOwn(days, String(asked.orderBy)) || (due && (asked.dueDateFrom ?? asked.dueDateTo) != null)
  return { asked: isByDay ? { ...asked, timeZone: desk.timeZone } : asked, words, keeps }
}

async function meaning(
  { refers, means }: { [Key in "refers" | "means"]: Filter[Key] | undefined },
  value: unknown,
  desk: Desk,
): Promise<unknown> {
  if (refers) return (await findRowByName(desk, refers, String(value))).id
  return means ? means[String(value)] : value
}

interface Listed {
  readonly table: TableSpec
  readonly list: List
  readonly words: string
  /** The number of matching rows; undefined if a device has more and does not report how many. */
  readonly found: number | undefined
}

function toSentences({ table, list, words, found }: Listed, shown: readonly DeskRow[], desk: Desk): string {
  if (shown.length === 0) return `No ${table.plural} found${words}.`
  const lines = shown.map((row) => `- ${describeRow(table, row, desk)}`)
  if (found === undefined || found > lines.length) {
    const narrower = list.filters.filter(({ words: narrows }) => narrows).map(({ argument }) => argument)
    const advice = narrower.length > 0 ? ` Ask for fewer with ${inWords(narrower)}.` : ""
    lines.push(`There are ${found === undefined ? "" : `${found - lines.length} `}more.${advice}`)
  }
  const count = found === undefined ? `more than ${shown.length}` : found
  return `Found ${count} ${nounOf(table)}(s):\n${lines.join("\n")}`
}

const inWords = (names: readonly string[]) =>
  names.length < 2 ? names.join() : `${names.slice(0, -1).join(", ")} or ${names.at(-1)}`
