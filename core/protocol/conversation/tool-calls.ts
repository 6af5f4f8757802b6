import { z } from "zod"
import { ids, JsonObject } from "../schema.ts"
import { MAX_FILES, MessageFile } from "./message.ts"

/** Tools that a client declares and runs itself. A model calls them like any other tool; the call waits for the client's result. */

/** Names of our tools have no hyphen, so that the prefix distinguishes them. */
const PREFIX = "client-"

export const ClientTool = z.object({
  /** As its program calls it. */
  name: z.string().regex(/^[\w-]{1,57}$/),
  description: z.string().max(4000),
  inputSchema: JsonObject,
})
export type ClientTool = z.infer<typeof ClientTool>

/** The step of a run that lists the client's tools. */
export const CLIENT_TOOLS = "client_tools"

/** Returns the name that the model uses for a client's tool. */
export const toClientName = (name: string): string => PREFIX + name

/** Returns the client's own name of a tool; undefined if it is not a client's tool. */
export const clientNameOf = (name: string): string | undefined =>
  name.startsWith(PREFIX) ? name.slice(PREFIX.length) : undefined

/** The progress of a running call: a text, or an amount done, with the total if it is known. */
export const CallProgress = z.object({
  callId: ids.call,
  text: z.string(),
  done: z.number().optional(),
  total: z.number().optional(),
})
export type CallProgress = z.infer<typeof CallProgress>

/** The progress that a tool reports. */
export type ReportedProgress = Partial<Omit<CallProgress, "callId">>

/** Formats progress as short text; empty if there is nothing to show. */
export function formatProgress({ text, done, total }: Omit<CallProgress, "callId">): string {
  if (done === undefined) return text
  const far = total !== undefined && total > 0 ? `${Math.floor((Math.min(done, total) / total) * 100)} %` : String(done)
  return text === "" ? far : `${text} · ${far}`
}

/** The `data` of a result with files. The view for this kind displays it. */
export interface ResultFiles {
  readonly kind: "files"
  readonly files: readonly MessageFile[]
}

/** Returns the files in a result's data, if it has any. */
export function filesIn(data: unknown): readonly MessageFile[] {
  if (typeof data !== "object" || data === null) return NONE
  const { kind, files } = data as { readonly kind?: unknown; readonly files?: unknown }
  if (kind !== "files" || !Array.isArray(files)) return NONE
  return files.slice(0, MAX_FILES).flatMap((file) => MessageFile.safeParse(file).data ?? [])
}

const NONE: readonly never[] = []

/**
 * Returns true for types that can be shown as text. Other files that are neither images nor documents can only be
 * downloaded.
 */
export const isTextType = (type: string): boolean =>
  type.startsWith("text/") || type === "application/json" || type === "image/svg+xml"

/** The views with which the web page can display a tool's result. The `kind` in the result's `data` selects one. */
export const viewNames = ["table", "chart", "text", "markdown", "diff", "sources", "files"] as const
/** The name of a view with which the web page can display a tool's result. */
export type ViewName = (typeof viewNames)[number]
