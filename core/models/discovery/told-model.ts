import type { Price } from "../../engine/model.ts"
import { type Feature, isModelId } from "../../protocol/models/providers.ts"

/** What an endpoint tells of one of its models, as far as it does. */
export interface ToldModel {
  /** What it calls the model. */
  readonly id: string
  /** How many tokens it reads now, as it is served. */
  readonly contextTokens?: number | undefined
  /** What the model was made for; its server may have given it less room. */
  readonly maxContextTokens?: number | undefined
  /** Absent also where it was told and is none. */
  readonly price?: Price | undefined
  readonly can: Readonly<Partial<Record<Feature, boolean>>>
}

/** A record of somebody else's JSON; empty for all that is none. */
export type LooseRecord = Readonly<Record<string, unknown>>

export const toRecord = (value: unknown): LooseRecord =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as LooseRecord) : {}

/** The texts of a list; undefined for what is no list. */
export const toTexts = (value: unknown): readonly string[] | undefined =>
  Array.isArray(value) ? value.filter((each) => typeof each === "string") : undefined

/** A name by which a model can be asked for. */
export const toModelId = (value: unknown): string | undefined =>
  typeof value === "string" && isModelId(value) ? value : undefined

/** As in the operator's file: what is outside of it is no window that a conversation fits into. */
export const toTokens = (value: unknown): number | undefined =>
  Number.isInteger(value) && (value as number) >= 1000 && (value as number) <= 100_000_000
    ? (value as number)
    : undefined

/** The first that is a number of tokens. */
export const firstTokens = (...values: readonly unknown[]): number | undefined =>
  values.map(toTokens).find((tokens) => tokens !== undefined)

const MAX_DOLLARS = 1_000_000

/** Dollars for a token, written as a number or as its text, in dollars for a million. Nothing less than zero is a price. */
export function toDollarsPerMillion(value: unknown): number | undefined {
  const isText = typeof value === "string" && /^\d{1,12}(?:\.\d{1,30})?(?:e-?\d{1,2})?$/i.test(value)
  if (!isText && typeof value !== "number") return undefined
  const dollars = Math.round(Number(value) * 1e12) / 1e6
  return dollars >= 0 && dollars <= MAX_DOLLARS ? dollars : undefined
}

/** The abilities of which something is known. */
export function toCan(told: Readonly<Record<Feature, boolean | undefined>>): ToldModel["can"] {
  return Object.fromEntries(Object.entries(told).filter(([, value]) => value !== undefined))
}
