import { type JsonAsker, ListFault } from "./ask-json.ts"
import { entriesOf, readChatList, toList, type ToldList } from "./chat-list.ts"
import type { ListingShape, ModelListing } from "../providers/model-listing.ts"
import {
  firstTokens,
  toCan,
  toModelId,
  toRecord,
  toTexts,
  toTokens,
  type LooseRecord,
  type ToldModel,
} from "./told-model.ts"

/** How the models of a server are read, by the shape of its list. */
export const readList: Readonly<Record<ListingShape, (listing: ModelListing, asker: JsonAsker) => Promise<ToldList>>> =
  {
    chat: readChatList,
    ollama: readOllama,
    lmstudio: readLmStudio,
    llamacpp: readLlamaCpp,
  }

/** Those of its own routes do not lie under the `/v1` that speaks as OpenAI does. */
const rootOf = ({ base }: ModelListing): string => base.replace(/\/v1$/, "")

/** How many of Ollama's models are looked into, and how many at once. The rest is listed without more. */
const MAX_SHOWN = 100
const SHOWN_AT_ONCE = 4

/**
 * Ollama gives a model the room that it is loaded with: `num_ctx` of its Modelfile, else a default of the server that nobody
 * is told. So its window is known while it is loaded, or where the Modelfile says it; what `show` calls its context length is what
 * the model was made for.
 */
async function readOllama(listing: ModelListing, asker: JsonAsker): Promise<ToldList> {
  const root = rootOf(listing)
  const ask = (path: string, sent?: object) => asker.ask(`${root}${path}${listing.query}`, sent)
  const entries = entriesOf({ data: toRecord(await ask("/api/tags")).models })
  const running = await ask("/api/ps").catch(() => undefined)
  const loaded = new Map<unknown, number | undefined>(
    (toEntries(toRecord(running).models) ?? []).map(({ name, context_length }) => [name, toTokens(context_length)]),
  )
  const shown = new Map<string, LooseRecord>()
  // So many are looked at at all: a list of a million has bytes enough for it.
  const names = entries.slice(0, MAX_SHOWN).flatMap((entry) => toModelId(toRecord(entry).name) ?? [])
  for (let at = 0; at < names.length; at += SHOWN_AT_ONCE) {
    const group = names.slice(at, at + SHOWN_AT_ONCE)
    const answers = await Promise.allSettled(group.map((model) => ask("/api/show", { model })))
    // One that is gone meanwhile is no reason to know nothing of the others; without time or bytes none will answer.
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
  const told: ToldModel = {
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
  return told
}

/** LM Studio says more in its own list than in the one that everybody has; an older one has only that. */
async function readLmStudio(listing: ModelListing, asker: JsonAsker): Promise<ToldList> {
  try {
    const answer = await asker.ask(`${rootOf(listing)}/api/v0/models${listing.query}`)
    return toList(entriesOf(answer), toLmStudioModel)
  } catch (error) {
    const isElsewhere = error instanceof ListFault && (error.status === undefined || error.status === 404)
    if (!isElsewhere) throw error
    return readChatList(listing, asker)
  }
}

function toLmStudioModel(entry: LooseRecord): ToldModel | undefined | "none" {
  if (entry.type === "embeddings") return "none"
  const id = toModelId(entry.id)
  if (id === undefined) return undefined
  const isKnown = entry.type === "llm" || entry.type === "vlm"
  return {
    id,
    // Loaded with less than it was made for, as is usual; what it will be loaded with, only LM Studio knows.
    contextTokens: toTokens(entry.loaded_context_length),
    maxContextTokens: toTokens(entry.max_context_length),
    can: toCan({
      // Those that were not trained for tools are given them all the same, in words.
      tools: toTexts(entry.capabilities)?.includes("tool_use") || undefined,
      images: isKnown ? entry.type === "vlm" : undefined,
      files: isKnown ? false : undefined,
      reasoning: undefined,
    }),
  }
}

/** The server of llama.cpp serves one model, and says elsewhere with how much room, and what its template takes. */
async function readLlamaCpp(listing: ModelListing, asker: JsonAsker): Promise<ToldList> {
  const answer = await asker.ask(`${listing.base}/models${listing.query}`)
  const entries = entriesOf(answer)
  // Of a server that has several, these would be those of any one of them.
  const asked = entries.length === 1 ? asker.ask(`${rootOf(listing)}/props${listing.query}`) : undefined
  const props = toRecord(await asked?.catch(() => undefined))
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
