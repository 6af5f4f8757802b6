import { answer, defineTool, failed, hasCode, type OpenWorkspace, type Tool } from "../../core/pack.ts"
import { capitalised, headlineOf, inOneLine, nounOf } from "./describe-row.ts"
import { type Desk, openDesk, type DeskRow } from "./tables/desk.ts"
import { findRowByName } from "./tables/find-row.ts"
import { loadNames } from "./load-names.ts"
import { orSentence } from "./or-sentence.ts"
import { rowArguments } from "./row-argument.ts"
import type { ToolText, TableSpec } from "./tables/table.ts"

/** Returns one row with all its columns. */
export function getTool(table: TableSpec, { name, description, examples }: ToolText, open: OpenWorkspace): Tool {
  return defineTool<Readonly<Record<string, string>>>({
    name,
    description,
    input: rowArguments(table),
    effect: "read",
    onSite: "workspace",
    taint: "private",
    afterCrash: "run-again",
    examples,
    run: (given, context) =>
      orSentence(async () => {
        const desk = openDesk(open, context)
        const idOrName = String(given[table.argument])
        try {
          const row = await findRowByName(desk, table.name, idOrName)
          await loadNames(table, [row], desk)
          return answer(details(table, row, desk), { data: { [nounOf(table)]: row } })
        } catch (error) {
          if (!hasCode(error, "row_missing")) throw error
          const lists = table.lists.map((list) => list.name).join(" or ")
          const { near } = (error as { details?: { near?: string } }).details ?? {}
          const meant = near === undefined ? "" : ` Did you mean ${JSON.stringify(near)}?`
          return failed(`${capitalised(nounOf(table))} not found: ${idOrName}.${meant} ${lists} shows those there are.`)
        }
      }),
  })
}

function details(table: TableSpec, row: DeskRow, desk: Desk): string {
  const { fields, body } = table
  const named = fields.filter(({ column, label }) => label && column !== body)
  const lines = named.map(({ label, column, kind }) => {
    const value = row[column] ?? null
    return `${label}: ${inOneLine(kind.brief ? kind.brief(value, desk) : kind.show(value, desk))}`
  })
  const text = body && row[body] ? [`\n${row[body]}`] : []
  return [`${capitalised(nounOf(table))}: ${headlineOf(table, row)}`, `id: ${row.id}`, ...lines, ...text].join("\n")
}
