import { z } from "zod"
import { lazily } from "./lazily.ts"
import type { JsonObject } from "./schema.ts"

/** Only that it is an object: what is in it is looked at by whoever asked for it, and there may be very many. */
export const isRow = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

export const GivenRow = lazily(() => z.custom<JsonObject>(isRow, "expected an object"))
