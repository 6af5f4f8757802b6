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
const MAX_DEPTH = 30

/** Reads what a server has listed. Undefined for what cannot be a tool: it is left out, and the others stay. */
export function toToolFacts(listed: unknown): McpToolFacts | undefined {
  const { name, description, inputSchema, annotations, execution } = (listed ?? {}) as Record<string, unknown>
  if (typeof name !== "string" || name === "" || name.length > MAX_NAME || !isPrintable(name)) return undefined
  if (!isObject(inputSchema) || inputSchema.type !== "object") return undefined
  const schema = cleaned(inputSchema, 0)
  if (schema === undefined || JSON.stringify(schema).length > MAX_SCHEMA) return undefined
  return {
    tool: name,
    description: typeof description === "string" ? plainWords(description).slice(0, MAX_DESCRIPTION) : "",
    inputSchema: schema as JsonObject,
    claims: {
      ...(isObject(annotations) ? toClaims(annotations) : {}),
      ...(isObject(execution) ? toTask(execution) : {}),
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

const isPrintable = (name: string): boolean => /^[\x21-\x7e]+$/.test(name)

const isObject = (value: unknown): value is Record<string, unknown> =>
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

/** The same JSON with plain words, names of fields included; undefined where it is nested too deep. */
function cleaned(value: unknown, depth: number): unknown {
  if (depth > MAX_DEPTH) return undefined
  if (typeof value === "string") return plainWords(value)
  if (Array.isArray(value)) {
    const items = value.map((each) => cleaned(each, depth + 1))
    return items.includes(undefined) ? undefined : items
  }
  if (!isObject(value)) return value
  const fields = Object.entries(value).map(([name, each]) => [plainWords(name), cleaned(each, depth + 1)] as const)
  return fields.some(([, each]) => each === undefined) ? undefined : Object.fromEntries(fields)
}
