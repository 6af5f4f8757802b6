import { AnswerData, type Source } from "../../protocol/conversation/stages.ts"
import type { DataChunk, SourceChunk } from "./chunks.ts"

const KIND = /^[a-z][a-z0-9_-]{0,60}$/

/** What a result holds for views, such as rows or a chart, as a data part by its kind: `data-table`, `data-chart`. */
export function toDataChunks(callId: string, data: unknown): DataChunk[] {
  if (data === undefined || data === null) return []
  const { kind } = data as { readonly kind?: unknown }
  const name = typeof kind === "string" && KIND.test(kind) ? kind : "result"
  return [{ type: `data-${name}`, id: callId, data }]
}

/** What an answer rests on: its sources, then where it cites them. */
export function toSourceChunks(messageId: string, data: unknown): (SourceChunk | DataChunk)[] {
  if (data === undefined || data === null) return []
  const answer = AnswerData.safeParse(data).data
  return [...(answer?.sources ?? []).map(toSource), ...toDataChunks(messageId, data)]
}

function toSource({ id: sourceId, title, url }: Source): SourceChunk {
  const isAddress = url !== undefined && /^https?:\/\//i.test(url)
  if (isAddress) return { type: "source-url", sourceId, url, title }
  return { type: "source-document", sourceId, mediaType: "text/plain", title }
}
