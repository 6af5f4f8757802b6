import type { NewEvent } from "../../protocol/events.ts"
import type { Source } from "../../protocol/conversation/stages.ts"
import { asOneLine } from "../untrusted-text.ts"

/** The sources of a conversation, and the number of each, both by id. */
interface NumberedSources {
  readonly sources: ReadonlyMap<string, Source>
  readonly numbers: ReadonlyMap<string, number>
}

/**
 * Assigns short numbers: the first passage of a conversation is `[1]` and keeps that number. They follow from the
 * journal alone, by the order of results, so that a replay, a fork and another node get the same numbers.
 */
export function countSources(before: ReadonlyMap<string, number>, sources: readonly Source[]): Map<string, number> {
  const numbers = new Map(before)
  for (const { id } of sources) if (!numbers.has(id)) numbers.set(id, numbers.size + 1)
  return numbers
}

/** The sources in a result. Tools are third-party code, so anything that is not a source is dropped. */
export function sourcesIn(data: unknown): Source[] | undefined {
  const { kind, sources } = (data ?? {}) as { kind?: unknown; sources?: unknown }
  if (kind !== "sources" || !Array.isArray(sources)) return undefined
  return (sources as unknown[]).filter(isSource)
}

function isSource(source: unknown): source is Source {
  const { id, passage, title } = (source ?? {}) as Partial<Record<keyof Source, unknown>>
  return typeof id === "string" && typeof passage === "string" && typeof title === "string"
}

/** The result with the numbers of its sources, for programs that read single events. */
export function withNumbers(
  { stages }: { readonly stages: Pick<NumberedSources, "numbers"> },
  event: NewEvent,
): NewEvent {
  if (event.type !== "tool_end" || event.status !== "ok" || !sourcesIn(event.data)) return event
  const data = event.data as { readonly sources: readonly unknown[] }
  const numbers = countSources(stages.numbers, data.sources.filter(isSource))
  const sources = data.sources.map((source) => {
    return isSource(source) ? { ...source, number: numbers.get(source.id) } : source
  })
  return { ...event, data: { ...data, sources } }
}

/** The sources by every marker that names one: its number or its id. The model is shown the number. */
export function byMarker({ sources, numbers }: NumberedSources): Map<string, Source> {
  const found = new Map(sources)
  for (const [id, number] of numbers) {
    const source = sources.get(id)
    if (source) found.set(String(number), { ...source, number })
  }
  return found
}

/** A passage's head, as tools write it: `[id] Title`. */
const HEAD = /(?<![^\n])\[([\w:.-]+)\]/g
/** References in a passage look like our numbers. In parentheses they do not, and a quote may have either. */
const REFERENCES = /(?<!\w)\[\^?(\d+(?:\s*[,;–-]\s*\d+)*)\]/g

/**
 * The text of a result for the model: `[3] (id) Title` instead of `[id] Title`, and no other number in brackets, so
 * that a document can neither declare itself a source nor pass its references off as sources.
 */
export function showNumbers(text: string, numbers: ReadonlyMap<string, number>, sources: readonly Source[]): string {
  const listed = new Set<string>()
  const shown = text.replaceAll(REFERENCES, "($1)").replaceAll(HEAD, (head, id: string) => {
    const number = numbers.get(id)
    if (number === undefined) return head
    listed.add(id)
    return `[${number}] (${id})`
  })
  const unlisted = sources.filter(({ id }) => !listed.has(id))
  if (unlisted.length === 0) return shown
  const heads = unlisted.map(({ id, title }) => sourceHead({ id, title, number: numbers.get(id) }))
  return `${shown}\n\n[Cite as:]\n${heads.join("\n")}`
}

/** The line that names a source for the model. The name is untrusted. */
export function sourceHead({ id, title, number }: SourceHead): string {
  return `[${number ?? asOneLine(id)}] (${asOneLine(id)}) ${asOneLine(title)}`
}

interface SourceHead extends Pick<Source, "id" | "title"> {
  readonly number?: number | undefined
}
