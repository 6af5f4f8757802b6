import { createHash } from "node:crypto"
import { stripVTControlCharacters } from "node:util"
import type { McpOAuth, McpToolClaims, McpToolFacts } from "../../../engine/mcp.ts"
import { isThisMachine } from "../../../protocol/databases/connections.ts"
import type { McpToolRule } from "../../../protocol/mcp-servers.ts"
import type { JsonObject } from "../../../protocol/schema.ts"
import { showHidden } from "../../../shared/text/show-hidden.ts"
import { canonicalJson } from "../../../shared/text/json.ts"
import { mendText } from "../../../shared/text/text.ts"

/** A program on this machine that speaks MCP over stdin and stdout. Only an operator can configure one. */
export interface ProgramTarget {
  readonly kind: "program"
  readonly command: readonly string[]
  readonly environment: Readonly<Record<string, string>>
  /** The only folder that it can write to. Default: an empty one. */
  readonly folder: string | undefined
  /** Folders that it can read. */
  readonly reads?: readonly string[]
  readonly network: boolean
  /** `false`: the operator allowed it to run without a sandbox. */
  readonly sandbox: boolean
}

export interface HttpTarget {
  readonly kind: "http"
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly oauth?: McpOAuth
}

/** A configured server, by the operator or a person. */
export interface McpServer {
  /** The key of its pinned tools: `=name` for the operator's, the row's id for a person's. */
  readonly key: string
  /** Changes with every edit, so that connections of older versions are not reused. */
  readonly version: string
  readonly name: string
  /** Configured by a person: its addresses are checked, and its tools are available to this person only. */
  readonly isPersons: boolean
  readonly target: ProgramTarget | HttpTarget
  /** The agents that may use its tools. */
  readonly agents: readonly string[]
  /** The rules for its tools, by the server's names; `*` for all others. */
  readonly rules: Readonly<Record<string, McpToolRule>>
  /** Tools that may run again after a crash, if the server also declares them idempotent. */
  readonly idempotent: readonly string[]
  /** Whether its results are public, so that they may be combined with other untrusted content. */
  readonly isPublic: boolean
  readonly timeoutSeconds: number
  /** Most seconds of a call as a task. */
  readonly taskSeconds: number
  /** Texts that results must not contain. */
  readonly secrets: readonly string[]
}

/** The prefix of its tools' names, followed by two underscores, so it has none itself. */
export const SERVER_NAME = /^[a-z][a-z0-9]{0,23}$/

/** Whether requests to a person's server would be sent unencrypted. The operator's servers may be in a private network. */
export function isUnencrypted({ isPersons, target }: McpServer): boolean {
  if (!isPersons || target.kind !== "http") return false
  const { protocol, hostname } = new URL(target.url)
  return protocol !== "https:" && !isThisMachine(hostname)
}

const MAX_NAME = 128
const MAX_DESCRIPTION = 2000
const MAX_SCHEMA = 32_000
/** Most nested levels of a schema. */
const MAX_SCHEMA_DEPTH = 30

/** Parses a listed tool. Undefined if it is unusable: the other tools stay. */
export function toToolFacts(listed: unknown): McpToolFacts | undefined {
  const { name, description, inputSchema, annotations, execution } = (listed ?? {}) as Record<string, unknown>
  if (!isToolName(name) || !isFields(inputSchema) || inputSchema.type !== "object") return undefined
  const schema = new Cleaning(MAX_SCHEMA).clean(inputSchema, 0)
  if (schema === undefined || JSON.stringify(schema).length > MAX_SCHEMA) return undefined
  return {
    tool: name,
    description: typeof description === "string" ? plainText(description).slice(0, MAX_DESCRIPTION) : "",
    inputSchema: schema as JsonObject,
    claims: {
      ...(isFields(annotations) ? toClaims(annotations) : {}),
      ...(isFields(execution) ? toTask(execution) : {}),
    },
  }
}

/** A hash of everything that a model or a person sees of a tool. If it changes, the tool must be approved again. */
export const hashOf = (facts: McpToolFacts): string =>
  createHash("sha256").update(canonicalJson(facts)).digest("base64url").slice(0, 32)

/** Text from a server without hidden characters, control sequences, or what cannot be stored. */
export const plainText = (text: string): string =>
  showHidden(mendText(stripVTControlCharacters(text)).replaceAll(CONTROLS, ""))

/** All control characters except tabs and line breaks. */
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g

/** Whether a server may use this name for a tool. */
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

/** Copies JSON with plain text, up to a limit of characters, so that discarded text is not processed. */
class Cleaning {
  #left: number

  constructor(characters: number) {
    this.#left = characters
  }

  /** Includes names of fields; undefined if it is nested too deeply or too long. */
  clean(value: unknown, depth: number): unknown {
    this.#left -= typeof value === "string" ? value.length + 1 : 1
    if (depth > MAX_SCHEMA_DEPTH || this.#left < 0) return undefined
    if (typeof value === "string") return plainText(value)
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
 * Maps a server's tool names to ours: `server__tool`. Our own tools have no double underscore, so they cannot collide. Other
 * characters become underscores; names that would be equal or too long get a hash.
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
 * Whether the headers that a tool's schema declares for its arguments can be sent. Checked here because the library drops
 * such a tool and logs the server's text.
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

/** Shorter values are no keys, and hiding them would hide ordinary words. */
const SHORTEST = 12

/**
 * The secrets of header values: each value, and the key without its scheme, because servers quote an unknown key without
 * `Bearer`.
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
