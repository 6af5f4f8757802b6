import { type Feature, type FactSources, modelFeatures } from "../../protocol/models/providers.ts"
import type { ModelEntry } from "../providers/model-catalogue.ts"
import type { ReportedModel } from "./reported-model.ts"

type Writable<T> = { -readonly [Key in keyof T]: T[Key] }

/**
 * Adds the endpoint's facts to a model. The endpoint takes precedence over the catalogue, and the catalogue over the
 * operator, except for a price and a smaller window, which the operator decides because they cost money.
 */
export function withReported(entry: ModelEntry, reported: ReportedModel): ModelEntry {
  const sources: Writable<FactSources> = { ...entry.sources }
  const { contextTokens, maxContextTokens } = toWindow(entry, reported, sources)
  const price = sources.price === "operator" ? entry.price : (reported.price ?? entry.price)
  if (reported.price && sources.price !== "operator") sources.price = "endpoint"
  const can = (feature: Feature): boolean => {
    const reportedTokens = reported.can[feature]
    if (reportedTokens === undefined) return entry.features.includes(feature)
    sources[feature] = "endpoint"
    return reportedTokens
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

/** The window: as it is served, limited by the model's maximum and by the operator. */
function toWindow(entry: ModelEntry, reported: ReportedModel, sources: Writable<FactSources>) {
  const { maxContextTokens } = reported
  const reportedTokens = reported.contextTokens ?? entry.contextTokens
  const contextTokens = Math.min(
    reportedTokens,
    maxContextTokens ?? reportedTokens,
    sources.contextTokens === "operator" ? entry.contextTokens : reportedTokens,
  )
  const isOperators = sources.contextTokens === "operator" && contextTokens === entry.contextTokens
  const isReported = contextTokens === reported.contextTokens || contextTokens === maxContextTokens
  if (isReported && !isOperators) sources.contextTokens = "endpoint"
  return { contextTokens, maxContextTokens }
}
