import type { Price } from "../../engine/model.ts"
import { ListFault, type JsonClient } from "./json-client.ts"
import type { ModelListing } from "../providers/model-listing.ts"
import { firstTokens, toCan, toDollarsPerMillion, toModelId, toRecord, toTexts, toTokens } from "./reported-model.ts"
import type { LooseRecord, ReportedModel } from "./reported-model.ts"

/** More than the largest gateway has. */
export const MAX_MODELS = 1000
/** OpenRouter's list may have several pages. */
const MAX_PAGES = 4

/** The models that an endpoint listed. */
export interface ReportedList {
  readonly models: readonly ReportedModel[]
  /** How many were left out. */
  readonly leftOut: number
}

/** The list that every server of chat completions has, with the additional facts of some. */
export async function readChatList(listing: ModelListing, client: JsonClient): Promise<ReportedList> {
  let entries: readonly unknown[] = []
  let page: string | undefined = listing.query
  for (let pages = 0; page !== undefined && pages < MAX_PAGES; pages++) {
    const answer: unknown = await client.ask(`${listing.base}/models${page}`)
    entries = entries.concat(entriesOf(answer))
    page = entries.length < MAX_MODELS ? nextPage(answer, listing.query) : undefined
  }
  return toList(entries, (entry) => toChatModel(entry, listing.hasPrices))
}

/** The entries of a list, under `data` as in OpenAI's format, or bare as in Together's. Throws a `ListFault`. */
export function entriesOf(answer: unknown): readonly unknown[] {
  const entries = Array.isArray(answer) ? answer : toRecord(answer).data
  if (!Array.isArray(entries)) throw new ListFault("its answer is not a list of models")
  return entries
}

/** The distinct models among the entries. */
export function toList(
  entries: readonly unknown[],
  toModel: (entry: LooseRecord) => ReportedModel | undefined | "none",
): ReportedList {
  const models = new Map<string, ReportedModel>()
  // Reads a limited number of entries, because a list of a million would fit into the byte limit.
  let leftOut = Math.max(0, entries.length - MAX_MODELS)
  for (const entry of entries.slice(0, MAX_MODELS)) {
    const model = toModel(toRecord(entry))
    if (model === "none" || (model && isEmbedder(model.id))) continue
    if (model && !models.has(model.id)) models.set(model.id, model)
    else leftOut++
  }
  return { models: [...models.values()], leftOut }
}

/**
 * Many lists report no type, such as those of OpenAI, vLLM and older versions of LM Studio: only the name reveals it.
 */
const isEmbedder = (id: string): boolean => /(?:^|[^a-z])embed/i.test(id)

/** Uses only the offset of the next page's address, which may name another host. */
function nextPage(answer: unknown, query: string): string | undefined {
  const { next } = toRecord(toRecord(answer).links)
  const [, offset] = typeof next === "string" ? (/[?&]offset=(\d{1,6})(?:&|$)/.exec(next) ?? []) : []
  return offset === undefined ? undefined : `${query === "" ? "?" : `${query}&`}offset=${offset}`
}

function toChatModel(entry: LooseRecord, hasPrices: boolean): ReportedModel | undefined | "none" {
  if (!answersInWords(entry)) return "none"
  const id = toModelId(entry.id)
  if (id === undefined) return undefined
  const { context_length: all, context_window, max_model_len, max_context_length } = entry
  const served = toTokens(toRecord(entry.top_provider).context_length)
  const length = firstTokens(all, context_window, max_model_len, max_context_length)
  const price = hasPrices ? toPrice(toRecord(entry.pricing)) : undefined
  return {
    id,
    // OpenRouter's top provider may accept less than the model can.
    contextTokens: served !== undefined && length !== undefined ? Math.min(served, length) : length,
    ...(price ? { price } : {}),
    can: toCan(abilitiesOf(entry)),
  }
}

/** Excludes models that only embed, draw or listen, as far as the list reports it. */
function answersInWords({ capabilities, architecture, active, type }: LooseRecord): boolean {
  const written = toTexts(toRecord(architecture).output_modalities)
  if (written && !written.includes("text")) return false
  if (active === false || toRecord(capabilities).completion_chat === false) return false
  return typeof type !== "string" || !/^(?:embedding|image|audio|rerank|moderation|transcribe)/.test(type)
}

/** OpenRouter lists parameters and input modalities, Mistral has a flag for each. */
function abilitiesOf({ supported_parameters, architecture, capabilities }: LooseRecord) {
  const taken = toTexts(supported_parameters)
  const read = toTexts(toRecord(architecture).input_modalities)
  const { function_calling, vision, reasoning } = toRecord(capabilities)
  return {
    tools: taken?.includes("tools") ?? toFlag(function_calling),
    images: read?.includes("image") ?? toFlag(vision),
    files: read?.includes("file"),
    reasoning: taken ? taken.includes("reasoning") || taken.includes("include_reasoning") : toFlag(reasoning),
  }
}

const toFlag = (value: unknown): boolean | undefined => (typeof value === "boolean" ? value : undefined)

/**
 * OpenRouter's prices. A price per request cannot be expressed per token. If one number is invalid, the price is
 * unknown, because a spending limit relies on it.
 */
function toPrice(pricing: LooseRecord): Price | undefined {
  const input = toDollarsPerMillion(pricing.prompt)
  const output = toDollarsPerMillion(pricing.completion)
  if (input === undefined || output === undefined) return undefined
  const { request, input_cache_read: read, input_cache_write: written } = pricing
  if (request !== undefined && toDollarsPerMillion(request) !== 0) return undefined
  const [cached, cacheWrite] = [toDollarsPerMillion(read), toDollarsPerMillion(written)]
  if ((read !== undefined && cached === undefined) || (written !== undefined && cacheWrite === undefined))
    return undefined
  return {
    ...{ input, output },
    ...(cached === undefined ? {} : { cached }),
    ...(cacheWrite === undefined ? {} : { cacheWrite }),
  }
}
