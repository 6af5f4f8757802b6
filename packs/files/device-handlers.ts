import { type CallContext, type JsonObject, newId, parse, parseWithoutSecrets, type Tool } from "../../core/pack.ts"
import { fileRefusal } from "./folder/folder.ts"

/** The action that asks a device for the preview of a write. */
export const PREVIEW_CHANGE = "preview_change"

type Handler = (
  data: JsonObject,
  context: { readonly signal: AbortSignal },
) => Promise<{ text: string; data?: unknown }>

/** The names of the tools that only read. */
export const fileReaders = (tools: readonly Tool[]): string[] => [
  ...tools.flatMap(({ name, effect }) => (effect === "read" ? name : [])),
  PREVIEW_CHANGE,
]

/**
 * The tools of a folder as handlers of a device, by name. `data` is their input and, for a write, what was approved.
 * The server calls them after an approval; they have the same limits as on a server.
 */
export function fileHandlers(tools: readonly Tool[], secrets: Iterable<string> = []): Record<string, Handler> {
  const byName = new Map(tools.map((tool) => [tool.name, tool]))
  const handlers = tools.map((tool): [string, Handler] => [
    tool.name,
    async (data, { signal }) => clean(await run(tool, data, signal)),
  ])
  return { ...Object.fromEntries(handlers), [PREVIEW_CHANGE]: look }

  async function look(data: JsonObject, { signal }: { readonly signal: AbortSignal }) {
    const { tool: name, input } = data
    const tool = byName.get(String(name))
    if (tool?.effect !== "write" || !tool.preview) throw fileRefusal(`There is no change called ${String(name)}`)
    const { agreed, siblings, taint } = data as Sent
    const approved = contextOf(signal, { approved: agreed, siblings, taint })
    const preview = await tool.preview(await checked(tool, input), approved)
    return clean({ text: preview.summary, data: preview })
  }

  /** Secrets of this machine, such as its token, are not sent to the server. */
  function clean(answer: { text: string; data: unknown }) {
    return parseWithoutSecrets(JSON.stringify(answer), secrets) as typeof answer
  }
}

type Approved = Pick<CallContext, "approved" | "siblings" | "taint">

/** As the server sends it, with the approved preview as `agreed`. */
type Sent = Omit<Approved, "approved"> & { readonly agreed?: Approved["approved"] }

async function run(tool: Tool, data: JsonObject, signal: AbortSignal) {
  const { agreed, ...input } = data
  const { siblings, taint, ...shown } = (agreed ?? {}) as Approved["approved"] & Approved
  let trusted = true
  let read: { readonly taint?: "untrusted" } = {}
  const context: CallContext = {
    ...contextOf(signal, tool.effect === "write" && agreed ? { approved: shown, siblings, taint } : {}),
    noteTaint(taint) {
      if (taint === "folder") trusted = false
      else read = { taint }
    },
  }
  try {
    const { text, status, data, change } = await tool.run(await checked(tool, input), context)
    const extra = { ...(data === undefined ? {} : { data }), ...(change ? { change } : {}) }
    return { text, data: { status, trusted, ...read, ...extra } }
  } catch (error) {
    // An error frame cannot carry the taint, so the error of a read becomes a result. The error codes of a write must
    // stay.
    if (trusted || tool.effect === "write") throw error
    return { text: `${tool.name} failed: ${(error as Error).message}`, data: { status: "error", trusted } }
  }
}

async function checked(tool: Tool, input: unknown): Promise<unknown> {
  const parsed = await parse(tool.input, input)
  if ("problem" in parsed) throw fileRefusal(`The arguments of ${tool.name} do not fit: ${parsed.problem}`)
  return parsed.value
}

/** A device does not know conversations: it is bound to one folder, and each conversation to a folder. */
function contextOf(signal: AbortSignal, { approved, siblings, taint }: Approved): CallContext {
  const now = Date.now()
  return {
    user: newId("user", now),
    conversation: newId("conv", null, now),
    callId: newId("call", null, now),
    signal,
    site: "device",
    deviceId: null,
    connectionId: null,
    now,
    timeZone: "UTC",
    calledAt: now,
    ...(approved ? { approved } : {}),
    ...(siblings ? { siblings } : {}),
    ...(taint === "untrusted" ? { taint } : {}),
    state: {},
    model: () => Promise.reject(new Error("a device has no model")),
  }
}
