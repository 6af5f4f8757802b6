import { type Feature, type FactSources, modelFeatures } from "../../protocol/models/providers.ts"
import type { ModelEntry } from "../providers/model-catalogue.ts"
import type { ToldModel } from "./told-model.ts"

type Writable<T> = { -readonly [Key in keyof T]: T[Key] }

/**
 * A model with what its endpoint says of it, fact by fact. The endpoint comes first, then the catalogue, then the operator's
 * word; two things are the operator's to decide, because it is their money: a price, and a smaller window.
 */
export function withTold(entry: ModelEntry, told: ToldModel): ModelEntry {
  const sources: Writable<FactSources> = { ...entry.sources }
  const { contextTokens, maxContextTokens } = toWindow(entry, told, sources)
  const price = sources.price === "operator" ? entry.price : (told.price ?? entry.price)
  if (told.price && sources.price !== "operator") sources.price = "endpoint"
  const can = (feature: Feature): boolean => {
    const said = told.can[feature]
    if (said === undefined) return entry.features.includes(feature)
    sources[feature] = "endpoint"
    return said
  }
  const { maxContextTokens: _, ...facts } = entry
  return {
    ...facts,
    features: modelFeatures.filter(can),
    contextTokens,
    ...(maxContextTokens !== undefined && maxContextTokens > contextTokens ? { maxContextTokens } : {}),
    price,
    sources,
  }
}

/** How much it reads: what it is served with, and never more than it was made for, or than the operator wants. */
function toWindow(entry: ModelEntry, told: ToldModel, sources: Writable<FactSources>) {
  const { maxContextTokens } = told
  const said = told.contextTokens ?? entry.contextTokens
  const contextTokens = Math.min(
    said,
    maxContextTokens ?? said,
    sources.contextTokens === "operator" ? entry.contextTokens : said,
  )
  const isOperators = sources.contextTokens === "operator" && contextTokens === entry.contextTokens
  const isTold = contextTokens === told.contextTokens || contextTokens === maxContextTokens
  if (isTold && !isOperators) sources.contextTokens = "endpoint"
  return { contextTokens, maxContextTokens }
}
