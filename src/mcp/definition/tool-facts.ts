import { createHash } from "node:crypto"
import { stripVTControlCharacters } from "node:util"
import { canonicalJson } from "../../protocol/canonical-json.ts"
import type { McpToolClaims, McpToolFacts } from "../../protocol/ports/mcp.ts"
import type { JsonObject } from "../../protocol/schema.ts"
import { showHidden } from "../../protocol/text/hidden-words.ts"
import { mendText } from "../../protocol/text/text.ts"

const MAX_NAME = 128
const MAX_DESCRIPTION = 2000
const MAX_SCHEMA = 32_000
/** Of one thing in another in its schema. */
export const MAX_SCHEMA_DEPTH = 30

/** Reads what a server has listed. Undefined for what cannot be a tool: it is left out, and the others stay. */
export function toToolFacts(listed: unknown): McpToolFacts | undefined {
  const { name, description, inputSchema, annotations, execution } = (listed ?? {}) as Record<string, unknown>
  if (!isToolName(name) || !isFields(inputSchema) || inputSchema.type !== "object") return undefined
  const schema = new Cleaning(MAX_SCHEMA).clean(inputSchema, 0)
  if (schema === undefined || JSON.stringify(schema).length > MAX_SCHEMA) return undefined
  return {
    tool: name,
    description: typeof description === "string" ? plainWords(description).slice(0, MAX_DESCRIPTION) : "",
    inputSchema: schema as JsonObject,
    claims: {
      ...(isFields(annotations) ? toClaims(annotations) : {}),
      ...(isFields(execution) ? toTask(execution) : {}),
    },
  }
}

/** Of all that a model or a person is shown of it. Another one means that somebody has to look at it again. */
export const hashOf = (facts: McpToolFacts): string =>
  createHash("sha256").update(canonicalJson(facts)).digest("base64url").slice(0, 32)

/** Words of others with nothing in them that hides, moves a cursor or cannot be stored. */
export const plainWords = (text: string): string =>
  showHidden(mendText(stripVTControlCharacters(text)).replaceAll(CONTROLS, ""))

/** All but tabs and ends of lines. */
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g

/** Whether a tool may be called so over there. */
export const isToolName = (name: unknown): name is string =>
  typeof name === "string" && name.length <= MAX_NAME && /^[\x21-\x7e]+$/.test(name)

export const isFields = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

function toClaims({ readOnlyHint, destructiveHint, idempotentHint }: Record<string, unknown>): McpToolClaims {
  return {
    ...(typeof readOnlyHint === "boolean" ? { readOnly: readOnlyHint } : {}),
    ...(typeof destructiveHint === "boolean" ? { destructive: destructiveHint } : {}),
    ...(typeof idempotentHint === "boolean" ? { idempotent: idempotentHint } : {}),
  }
}

function toTask({ taskSupport }: Record<string, unknown>): Pick<McpToolClaims, "task"> {
  return taskSupport === "optional" || taskSupport === "required" ? { task: taskSupport } : {}
}

/** Makes the same JSON with plain words, as long as there is room: what will not be kept is not looked at either. */
class Cleaning {
  #left: number

  constructor(characters: number) {
    this.#left = characters
  }

  /** Names of fields included; undefined where it is nested too deep, or too long. */
  clean(value: unknown, depth: number): unknown {
    this.#left -= typeof value === "string" ? value.length + 1 : 1
    if (depth > MAX_SCHEMA_DEPTH || this.#left < 0) return undefined
    if (typeof value === "string") return plainWords(value)
    if (Array.isArray(value)) return this.#cleanAll(value, depth)
    if (!isFields(value)) return value
    const names = Object.keys(value)
    const cleaned = this.#cleanAll([...names, ...Object.values(value)], depth)
    return cleaned && Object.fromEntries(names.map((_, at) => [cleaned[at] as string, cleaned[names.length + at]]))
  }

  #cleanAll(values: readonly unknown[], depth: number): unknown[] | undefined {
    const cleaned: unknown[] = []
    for (const value of values) {
      const each = this.clean(value, depth + 1)
      if (each === undefined) return undefined
      cleaned.push(each)
    }
    return cleaned
  }
}
