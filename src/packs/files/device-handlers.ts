import { parse } from "../../agent/definition/schema.ts"
import { type CallContext, type Tool } from "../../agent/definition/tool.ts"
import { parseWithoutSecrets } from "../../agent/calls/without-secrets.ts"
import { newId } from "../../protocol/ids.ts"
import { type JsonObject } from "../../protocol/schema.ts"
import { fileRefusal } from "./folder/folder.ts"

/** Asks a device what a write would change. */
export const LOOK = "preview_change"

type Handler = (
  data: JsonObject,
  context: { readonly signal: AbortSignal },
) => Promise<{ text: string; data?: unknown }>

/** Those of them that change nothing. */
export const fileReaders = (tools: readonly Tool[]): string[] => [
  ...tools.flatMap(({ name, effect }) => (effect === "read" ? name : [])),
  LOOK,
]

/**
 * The tools of a folder as a device offers them: by their names, `data` their input, and for a write beside it what was
 * agreed to. The server asks after somebody has said yes; what is confined to the folder there is confined here.
 */
export function fileHandlers(tools: readonly Tool[], secrets: Iterable<string> = []): Record<string, Handler> {
  const byName = new Map(tools.map((tool) => [tool.name, tool]))
  const handlers = tools.map((tool): [string, Handler] => [
    tool.name,
    async (data, { signal }) => clean(await run(tool, data, signal)),
  ])
  return { ...Object.fromEntries(handlers), [LOOK]: look }

  async function look({ tool: name, input }: JsonObject, { signal }: { readonly signal: AbortSignal }) {
    const tool = byName.get(String(name))
    if (tool?.effect !== "write" || !tool.preview) throw fileRefusal(`There is no change called ${String(name)}`)
    const preview = await tool.preview(await checked(tool, input), contextOf(signal))
    return clean({ text: preview.summary, data: preview })
  }

  /** What this machine knows, such as its token, is none of the server's business. */
  function clean(told: { text: string; data: unknown }) {
    return parseWithoutSecrets(JSON.stringify(told), secrets) as typeof told
  }
}

async function run(tool: Tool, data: JsonObject, signal: AbortSignal) {
  const { agreed, ...input } = data
  const context = contextOf(signal, tool.effect === "write" ? (agreed as CallContext["agreed"]) : undefined)
  const { text, status, data: told, change } = await tool.run(await checked(tool, input), context)
  return { text, data: { status, ...(told === undefined ? {} : { data: told }), ...(change ? { change } : {}) } }
}

async function checked(tool: Tool, input: unknown): Promise<unknown> {
  const parsed = await parse(tool.input, input)
  if ("problem" in parsed) throw fileRefusal(`The arguments of ${tool.name} do not fit: ${parsed.problem}`)
  return parsed.value
}

/** A device knows nothing of conversations: it is bound to one folder, and a conversation to it. */
function contextOf(signal: AbortSignal, agreed?: CallContext["agreed"]): CallContext {
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
    askedAt: now,
    ...(agreed ? { agreed } : {}),
    state: {},
    model: () => Promise.reject(new Error("a device has no model")),
  }
}
