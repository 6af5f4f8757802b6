import type { Context } from "hono"
import { isKnown } from "../../../agent/replay/replay.ts"
import { toAskedCallId } from "../../../dialects/openai/functions.ts"
import { failure } from "../../../protocol/errors.ts"
import type { InputItems, InputItemsQuery, ListedItem } from "../../../protocol/dialects/openai-responses.ts"
import type { Env } from "../../door/request-env.ts"
import type { JournalRow } from "../../stream/told-rows.ts"
import { findResponse, type FoundResponse, resultsTogether } from "./find-response.ts"
import type { OpenAiPorts } from "./ports.ts"

/** What a response was given: the words of its run, or the results that it goes on with. */
export async function listInputItems(
  c: Context<Env>,
  ports: OpenAiPorts,
  { limit, order, after }: InputItemsQuery,
): Promise<InputItems> {
  const items = toItems(await findResponse(c, ports))
  if (order === "desc") items.reverse()
  const at = after === undefined ? -1 : items.findIndex(({ id }) => id === after)
  if (after !== undefined && at < 0) throw failure("not_found")
  const data = items.slice(at + 1, at + 1 + limit)
  return {
    ...{ object: "list", data, first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null },
    has_more: at + 1 + limit < items.length,
  }
}

function toItems(found: FoundResponse): ListedItem[] {
  const { part, rows, pause = Number.POSITIVE_INFINITY } = found
  const given = part > 0 ? resultsTogether(found) : rows.filter(({ position }) => position <= pause)
  return given.flatMap((row) => toItem(row, found))
}

function toItem(row: JournalRow, { part, conversation }: FoundResponse): ListedItem[] {
  if (!isKnown(row)) return []
  if (row.type === "message" && row.role === "user") {
    const text = row.parts.map((each) => (each.type === "text" ? each.text : "")).join("")
    const content = [{ type: "input_text" as const, text }]
    return [{ id: row.id, type: "message", role: "user", status: "completed", content }]
  }
  if (row.type !== "tool_end" || part === 0) return []
  const call_id = toAskedCallId(row.callId, conversation.id)
  return [{ id: row.id, type: "function_call_output", status: "completed", call_id, output: row.text }]
}
