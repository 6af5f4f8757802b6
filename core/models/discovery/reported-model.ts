import type { Price } from "../../engine/model.ts"
import { type Feature, isModelId } from "../../protocol/models/providers.ts"

/** The facts that an endpoint reports about a model. */
export interface ReportedModel {
  /** Its id at the endpoint. */
  readonly id: string
  /** The window as it is served now. */
  readonly contextTokens?: number | undefined
  /** The model's maximum window; the server may use less. */
  readonly maxContextTokens?: number | undefined
  /** Absent also if an invalid price was reported. */
  readonly price?: Price | undefined
  readonly can: Readonly<Partial<Record<Feature, boolean>>>
}

/** An object of foreign JSON; empty for any other value. */
export type LooseRecord = Readonly<Record<string, unknown>>

export const toRecord = (value: unknown): LooseRecord =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as LooseRecord) : {}

/** The texts of a list; undefined for what is no list. */
export const toTexts = (value: unknown): readonly string[] | undefined =>
  Array.isArray(value) ? value.filter((each) => typeof each === "string") : undefined

/** An id with which a model can be requested. */
export const toModelId = (value: unknown): string | undefined =>
  typeof value === "string" && isModelId(value) ? value : undefined

/** The limits of the operator's file: other numbers are no usable window. */
export const toTokens = (value: unknown): number | undefined =>
  Number.isInteger(value) && (value as number) >= 1000 && (value as number) <= 100_000_000
    ? (value as number)
    : undefined

/** The first valid number of tokens. */
export const firstTokens = (...values: readonly unknown[]): number | undefined =>
  values.map(toTokens).find((tokens) => tokens !== undefined)

const MAX_DOLLARS = 1_000_000

/** Dollars per token, as a number or text, converted to dollars per million. Negative numbers are no prices. */
export function toDollarsPerMillion(value: unknown): number | undefined {
  const isText = typeof value === "string" && /^\d{1,12}(?:\.\d{1,30})?(?:e-?\d{1,2})?$/i.test(value)
  if (!isText && typeof value !== "number") return undefined
  const dollars = Math.round(Number(value) * 1e12) / 1e6
  return dollars >= 0 && dollars <= MAX_DOLLARS ? dollars : undefined
}

/** The known abilities. */
export function toCan(abilities: Readonly<Record<Feature, boolean | undefined>>): ReportedModel["can"] {
  return Object.fromEntries(Object.entries(abilities).filter(([, value]) => value !== undefined))
}
