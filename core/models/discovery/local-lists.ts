import { type JsonClient, ListFault } from "./json-client.ts"
import { entriesOf, readChatList, toList, type ReportedList } from "./chat-list.ts"
import type { ListingShape, ModelListing } from "../providers/model-listing.ts"
import {
  firstTokens,
  toCan,
  toModelId,
  toRecord,
  toTexts,
  toTokens,
  type LooseRecord,
  type ReportedModel,
} from "./reported-model.ts"

/** Readers of model lists, by their format. */
export const readList: Readonly<
  Record<ListingShape, (listing: ModelListing, client: JsonClient) => Promise<ReportedList>>
> = {
  chat: readChatList,
  ollama: readOllama,
  lmstudio: readLmStudio,
  llamacpp: readLlamaCpp,
}

/** Its own routes are not under `/v1`, which is OpenAI's format. */
const rootOf = ({ base }: ModelListing): string => base.replace(/\/v1$/, "")

/** Limits of the details that are requested from Ollama. Further models are listed without details. */
const MAX_SHOWN = 100
const SHOWN_AT_ONCE = 4

/**
 * Ollama loads a model with `num_ctx` of its Modelfile, or else with a server default that it does not report. So the
 * window is known while the model is loaded, or if the Modelfile sets it; the context length of `show` is the model's
 * maximum.
 */
async function readOllama(listing: ModelListing, client: JsonClient): Promise<ReportedList> {
  const root = rootOf(listing)
  const ask = (path: string, sent?: object) => client.ask(`${root}${path}${listing.query}`, sent)
  const entries = entriesOf({ data: toRecord(await ask("/api/tags")).models })
  const running = await ask("/api/ps").catch(() => undefined)
  const loaded = new Map<unknown, number | undefined>(
    (toEntries(toRecord(running).models) ?? []).map(({ name, context_length }) => [name, toTokens(context_length)]),
  )
  const shown = new Map<string, LooseRecord>()
  // Reads a limited number of entries, because a list of a million would fit into the byte limit.
  const names = entries.slice(0, MAX_SHOWN).flatMap((entry) => toModelId(toRecord(entry).name) ?? [])
  for (let at = 0; at < names.length; at += SHOWN_AT_ONCE) {
    const group = names.slice(at, at + SHOWN_AT_ONCE)
    const answers = await Promise.allSettled(group.map((model) => ask("/api/show", { model })))
    // A model that was deleted in the meantime does not affect the others. If all fail, time or bytes are used up.
    answers.forEach((answer, index) => {
      if (answer.status === "fulfilled") shown.set(group[index] ?? "", toRecord(answer.value))
    })
    if (answers.every(({ status }) => status === "rejected")) break
  }
  return toList(entries, ({ name }) => {
    const id = toModelId(name)
    if (id === undefined) return undefined
    const more = shown.get(id)
    return more ? toOllamaModel(id, more, loaded.get(id)) : { id, contextTokens: loaded.get(id), can: {} }
  })
}

function toOllamaModel(id: string, { capabilities, model_info, parameters }: LooseRecord, loaded: number | undefined) {
  const can = toTexts(capabilities)
  if (can && !can.includes("completion")) return "none"
  const info = toRecord(model_info)
  const { "general.architecture": kind } = info
  const made = typeof kind === "string" ? toTokens(info[`${kind}.context_length`]) : undefined
  const [, written] = typeof parameters === "string" ? (/^num_ctx\s+(\d{1,9})\s*$/m.exec(parameters) ?? []) : []
  const given = toTokens(Number(written))
  const reported: ReportedModel = {
    id,
    contextTokens: loaded ?? (given !== undefined && made !== undefined ? Math.min(given, made) : given),
    maxContextTokens: made,
    can: can
      ? {
          tools: can.includes("tools"),
          images: can.includes("vision"),
          files: false,
          reasoning: can.includes("thinking"),
        }
      : {},
  }
  return reported
}

/** LM Studio's own list has more facts; older versions only have the common list. */
async function readLmStudio(listing: ModelListing, client: JsonClient): Promise<ReportedList> {
  try {
    const answer = await client.ask(`${rootOf(listing)}/api/v0/models${listing.query}`)
    return toList(entriesOf(answer), toLmStudioModel)
  } catch (error) {
    const isElsewhere = error instanceof ListFault && (error.status === undefined || error.status === 404)
    if (!isElsewhere) throw error
    return readChatList(listing, client)
  }
}

function toLmStudioModel(entry: LooseRecord): ReportedModel | undefined | "none" {
  if (entry.type === "embeddings") return "none"
  const id = toModelId(entry.id)
  if (id === undefined) return undefined
  const isKnown = entry.type === "llm" || entry.type === "vlm"
  return {
    id,
    // Models are usually loaded with less than their maximum; only LM Studio knows with how much.
    contextTokens: toTokens(entry.loaded_context_length),
    maxContextTokens: toTokens(entry.max_context_length),
    can: toCan({
      // Models without tool training still get tools, described in the prompt.
      tools: toTexts(entry.capabilities)?.includes("tool_use") || undefined,
      images: isKnown ? entry.type === "vlm" : undefined,
      files: isKnown ? false : undefined,
      reasoning: undefined,
    }),
  }
}

/** llama.cpp serves one model, and reports its window and template at another address. */
async function readLlamaCpp(listing: ModelListing, client: JsonClient): Promise<ReportedList> {
  const answer = await client.ask(`${listing.base}/models${listing.query}`)
  const entries = entriesOf(answer)
  // With several models these properties would be those of any one of them.
  const request = entries.length === 1 ? client.ask(`${rootOf(listing)}/props${listing.query}`) : undefined
  const props = toRecord(await request?.catch(() => undefined))
  const { supports_tools: declared, supports_tool_calls: called } = toRecord(props.chat_template_caps)
  const { vision } = toRecord(props.modalities)
  const room = toRecord(props.default_generation_settings).n_ctx
  return toList(entries, (entry) => {
    const id = toModelId(entry.id)
    const { n_ctx, n_ctx_train } = toRecord(entry.meta)
    const saysTools = typeof declared === "boolean" || typeof called === "boolean"
    const can = toCan({
      tools: saysTools ? declared === true || called === true : undefined,
      images: typeof vision === "boolean" ? vision : undefined,
      files: undefined,
      reasoning: undefined,
    })
    return id === undefined
      ? undefined
      : { id, contextTokens: firstTokens(room, n_ctx), maxContextTokens: toTokens(n_ctx_train), can }
  })
}

const toEntries = (value: unknown): readonly LooseRecord[] | undefined =>
  Array.isArray(value) ? value.slice(0, 1000).map(toRecord) : undefined
