import { createHash } from "node:crypto"
import { stripVTControlCharacters } from "node:util"
import type { McpOAuth, McpToolClaims, McpToolFacts } from "../../../engine/mcp.ts"
import { isThisMachine } from "../../../protocol/databases/connections.ts"
import type { McpToolRule } from "../../../protocol/mcp-servers.ts"
import type { JsonObject } from "../../../protocol/schema.ts"
import { showHidden } from "../../../shared/text/show-hidden.ts"
import { canonicalJson } from "../../../shared/text/json.ts"
import { mendText } from "../../../shared/text/text.ts"

/** A program of this machine that speaks MCP over its input and output. Only an operator can name one. */
export interface ProgramTarget {
  readonly kind: "program"
  readonly command: readonly string[]
  readonly environment: Readonly<Record<string, string>>
  /** The only folder that it can change. Without, an empty one of its own. */
  readonly folder: string | undefined
  /** Folders that it can read and not change. */
  readonly reads?: readonly string[]
  readonly network: boolean
  /** `false`: the operator has said that it runs without walls. */
  readonly sandbox: boolean
}

export interface HttpTarget {
  readonly kind: "http"
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly oauth?: McpOAuth
}

/** A server whose tools may join agents, whoever has named it. */
export interface McpServer {
  /** Under which its tools are pinned: `=name` for the operator's, the id of its row for a person's. */
  readonly key: string
  /** Another one after every change: what was opened before it is not used any more. */
  readonly version: string
  readonly name: string
  /** Where no operator has named it: its addresses are judged, and its tools are this person's alone. */
  readonly isPersons: boolean
  readonly target: ProgramTarget | HttpTarget
  /** The agents that may have its tools. */
  readonly agents: readonly string[]
  /** What is decided about its tools, by their names there; `*` for all others. */
  readonly rules: Readonly<Record<string, McpToolRule>>
  /** Tools that may run again after a crash, where they say themselves that a second time changes nothing. */
  readonly idempotent: readonly string[]
  /** Whether what it tells is anybody's, so that it may be used beside other things from outside. */
  readonly isPublic: boolean
  readonly timeoutSeconds: number
  /** How long a call may take that is a task over there. */
  readonly taskSeconds: number
  /** What no result may repeat. */
  readonly secrets: readonly string[]
}

/** A server's name: it stands before the names of its tools, with two underscores between, so it has none itself. */
export const SERVER_NAME = /^[a-z][a-z0-9]{0,23}$/

/** Whether anybody on the way could read what a person's server is sent. An operator knows their own network. */
export function isInTheClear({ isPersons, target }: McpServer): boolean {
  if (!isPersons || target.kind !== "http") return false
  const { protocol, hostname } = new URL(target.url)
  return protocol !== "https:" && !isThisMachine(hostname)
}

const MAX_NAME = 128
const MAX_DESCRIPTION = 2000
const MAX_SCHEMA = 32_000
/** Of one thing in another in its schema. */
const MAX_SCHEMA_DEPTH = 30

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

const MAX_DECLARED_NAME = 64

/**
 * What the tools of a server are called here, by their names there: `server__tool`. No tool of ours has two underscores in its
 * name, so none of theirs passes for one. What the names of ours cannot hold becomes an underscore; where two would be the
 * same, or one is too long, a few letters tell them apart.
 */
export function toolNames(server: string, tools: readonly string[]): ReadonlyMap<string, string> {
  const plain = tools.map((tool) => `${server}__${tool.toLowerCase().replaceAll(/[^a-z0-9_]/g, "_")}`)
  return new Map(
    tools.map((tool, at) => {
      const name = plain[at] as string
      const isAlone = plain.filter((other) => other === name).length === 1
      if (name.length <= MAX_DECLARED_NAME && (isAlone || name === `${server}__${tool}`)) return [tool, name]
      const mark = createHash("sha256").update(tool).digest("hex").slice(0, 6)
      return [tool, `${name.slice(0, MAX_DECLARED_NAME - mark.length - 1)}_${mark}`]
    }),
  )
}

const HEADER = "x-mcp-header"
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
const SENDABLE = new Set<unknown>(["string", "integer", "boolean"])

/**
 * Whether what the schema of a tool says of arguments that go along as headers can be done. The library leaves out a tool of
 * which it cannot, and prints why, in the words of its server.
 */
export function declaresHeaders(schema: unknown): boolean {
  const names = new Set<string>()
  const fits = (node: unknown, at: { readonly depth: number; readonly isProperty: boolean }): boolean => {
    const depth = at.depth + 1
    if (depth > MAX_SCHEMA_DEPTH) return false
    if (Array.isArray(node)) return node.every((each) => fits(each, { depth, isProperty: false }))
    if (!isFields(node)) return true
    const { properties, [HEADER]: header, ...others } = node
    if (header !== undefined) {
      const name = typeof header === "string" ? header.toLowerCase() : ""
      if (!at.isProperty || !SENDABLE.has(node.type) || !TOKEN.test(name) || names.has(name)) return false
      names.add(name)
    }
    const isReached = at.isProperty || depth === 1
    return (
      Object.values(properties ?? {}).every((each) => fits(each, { depth, isProperty: isReached })) &&
      Object.values(others).every((each) => fits(each, { depth, isProperty: false }))
    )
  }
  return fits(schema, { depth: 0, isProperty: false })
}

/** No key is shorter, and hiding what is would blacken half of what is told. */
const SHORTEST = 12

/**
 * What nothing may repeat of what a server is sent: each value as it is, and a key also without the word before it. A server
 * that does not know a key says so with the key alone, and without its `Bearer`.
 */
export function sentSecrets(values: Iterable<string>): string[] {
  const all = [...values].flatMap((value) => [value, ...keysIn(value)])
  return [...new Set(all)].filter(({ length }) => length >= SHORTEST)
}

function keysIn(value: string): string[] {
  const [, scheme = "", key] = /^([A-Za-z][\w-]*) +(\S+)$/.exec(value) ?? []
  if (key === undefined) return []
  if (scheme.toLowerCase() !== "basic") return [key]
  const named = Buffer.from(key, "base64").toString("utf8")
  return [key, named.slice(named.indexOf(":") + 1)]
}
