import { resolve } from "node:path"
import { z } from "zod"
import type { StoredMcpServer } from "../../engine/mcp.ts"
import type { UserId } from "../../protocol/ids.ts"
import { mcpToolRules } from "../../protocol/mcp-servers.ts"
import { readJson } from "../../shared/text/read-json.ts"
import { plainErrors } from "../../shared/text/schema-text.ts"
import { type Clock, monotonicOf } from "../../shared/time/clock.ts"
import { type HttpTarget, type McpServer, type ProgramTarget, sentSecrets, SERVER_NAME } from "./definition/server.ts"

/** People's servers in the store. */
export interface StoredServers {
  isAny(): Promise<boolean>
  list(user: UserId): Promise<readonly StoredMcpServer[]>
}

/** How long a person's list is cached for runs. Changes by other nodes appear within 2 s. */
const FRESH_MS = 1000
const MAX_KEPT = 1000
const TIMEOUT_SECONDS = 60
const TASK_SECONDS = 3600

/** The servers that a person's agents may use. If there are none, almost no queries are sent. */
export class ServerList {
  readonly #operators: readonly McpServer[]
  readonly #people: StoredServers
  readonly #clock: Clock
  #noneAt: number | undefined
  /** How often the cache was invalidated: a result that was requested before that is not cached. */
  #changes = 0
  readonly #cache = new Map<UserId, { readonly servers: readonly McpServer[]; readonly at: number }>()

  constructor(operators: readonly McpServer[], people: StoredServers, clock: Clock) {
    this.#operators = operators
    this.#people = people
    this.#clock = clock
  }

  /** A recent check found no servers. */
  get isNone(): boolean {
    return this.#operators.length === 0 && this.#isFresh(this.#noneAt)
  }

  /** The current list: for people, whose next request may go to any node. */
  now(user: UserId): Promise<readonly McpServer[]> {
    this.forget(user)
    return this.of(user)
  }

  /** The cached list: for runs. A server that was removed since has no pinned tools and is not called. */
  async of(user: UserId): Promise<readonly McpServer[]> {
    if (this.#isFresh(this.#noneAt)) return this.#operators
    const cached = this.#cache.get(user)
    if (cached && this.#isFresh(cached.at)) return cached.servers
    const [at, changes] = [monotonicOf(this.#clock), this.#changes]
    if (!(await this.#people.isAny())) {
      if (changes === this.#changes) this.#noneAt = at
      return this.#operators
    }
    const taken = new Set(this.#operators.map(({ name }) => name))
    const own = (await this.#people.list(user)).filter(({ name }) => !taken.has(name)).map(toServer)
    const servers = [...this.#operators, ...own]
    if (changes !== this.#changes) return servers
    this.#cache.set(user, { servers, at })
    const [oldest] = this.#cache.keys()
    if (this.#cache.size > MAX_KEPT && oldest !== undefined) this.#cache.delete(oldest)
    return servers
  }

  /** Invalidates a person's cached list. */
  forget(user: UserId): void {
    this.#changes++
    this.#noneAt = undefined
    this.#cache.delete(user)
  }

  #isFresh(at: number | undefined): boolean {
    return at !== undefined && monotonicOf(this.#clock) - at < FRESH_MS
  }
}

/** A person's server. Its tools ask until that person decides otherwise. */
export function toServer({ id, name, agents, target, version }: StoredMcpServer): McpServer {
  const { url, headers, isPublic, oauth } = target
  return {
    ...{ key: id, version, name, isPersons: true, agents },
    target: { kind: "http", url, headers, ...(oauth ? { oauth } : {}) },
    ...{ rules: {}, idempotent: [], isPublic, timeoutSeconds: TIMEOUT_SECONDS, taskSeconds: TASK_SECONDS },
    secrets: sentSecrets([...Object.values(headers), oauth?.clientSecret ?? ""]),
  }
}

type Environment = Readonly<Record<string, string | undefined>>

/** A fault in the operator's file, as a sentence without secrets. */
export class ServersFault extends Error {
  override readonly name = "ServersFault"
}

/** Shorter values are no keys, and hiding them would hide ordinary words. */
const SHORTEST_SECRET = 12
/** Our own secrets cannot be referenced. */
const VARIABLE = /^(?!PAWL_|PG|NATS_|MASTER_ENCRYPTION_KEY|DATABASE_URL$)[A-Z_][A-Z0-9_]{0,99}$/

/** Created on demand: a start without such a file does not pay for it. */
function schemas() {
  const value = z
    .string()
    .max(8000)
    .regex(/^[\x20-\x7e]*$/, { message: "must be plain characters on one line" })
  const common = {
    agents: z.array(z.string()).min(1).max(50).default(["workspace"]),
    tools: z.record(z.string(), z.enum(mcpToolRules)).default({}),
    idempotent: z.array(z.string()).max(200).default([]),
    data: z.enum(["private", "public"]).default("private"),
    timeoutSeconds: z.int().min(1).max(600).default(TIMEOUT_SECONDS),
    taskSeconds: z.int().min(1).max(86_400).default(TASK_SECONDS),
  }
  return {
    file: z.strictObject({ mcpServers: z.record(z.string(), z.unknown()) }),
    http: z.strictObject({
      url: z.url({ protocol: /^https?$/ }),
      headers: z.record(z.string().toLowerCase(), value).default({}),
      oauth: z.strictObject({ clientId: value, clientSecret: value, scope: value }).partial().optional(),
      ...common,
    }),
    program: z.strictObject({
      command: z.string().min(1),
      args: z.array(z.string()).max(200).default([]),
      env: z.record(z.string().regex(/^\w{1,100}$/), value).default({}),
      folder: z.string().optional(),
      reads: z.array(z.string().min(1)).max(20).default([]),
      network: z.boolean().default(false),
      sandbox: z.boolean().default(true),
      ...common,
    }),
  }
}

type Schemas = ReturnType<typeof schemas>

/** Parses the operator's file and replaces variables from the environment. Throws a `ServersFault`. */
export function readServers(text: string, environment: Environment): McpServer[] {
  const { file } = schemas()
  const { mcpServers } = parsed(file, parseJson(text), "")
  return Object.entries(mcpServers).map(([name, entry]) => readServer(name, entry, environment))
}

/** Parses one entry of such a file. Without an environment its texts stay as they are. Throws a `ServersFault`. */
export function readServer(name: string, entry: unknown, environment?: Environment): McpServer {
  const { http, program } = schemas()
  if (!SERVER_NAME.test(name))
    throw new ServersFault(
      `"${name.slice(0, 40)}" is not a valid server name: use a lower-case letter, then up to 23 lower-case letters and digits`,
    )
  const isProgram = typeof entry === "object" && entry !== null && "command" in entry
  const filling = new Filling(environment, name)
  const read = isProgram ? parsed(program, entry, name) : parsed(http, entry, name)
  const { agents, tools, idempotent, data, timeoutSeconds, taskSeconds } = read
  const target = "command" in read ? toProgram(read, filling) : toHttp(read, filling)
  const literal = target.kind === "http" ? target.headers : target.environment
  return {
    ...{ key: `=${name}`, version: "", name, isPersons: false, target, agents, rules: tools, idempotent },
    ...{ isPublic: data === "public", timeoutSeconds, taskSeconds },
    secrets: [...filling.secrets, ...keysNamed(literal, filling)],
  }
}

function toHttp({ url, headers, oauth }: z.infer<Schemas["http"]>, filling: Filling): HttpTarget {
  const target = { kind: "http", url: filling.fill(url), headers: filling.fillAll(headers) } as const
  return oauth ? { ...target, oauth: filling.fillAll(oauth as Record<string, string>) } : target
}

function toProgram(read: z.infer<Schemas["program"]>, filling: Filling): ProgramTarget {
  const { command, args, env, folder, reads, network, sandbox } = read
  return {
    kind: "program",
    command: [command, ...args.map((word) => filling.fill(word))],
    environment: filling.fillAll(env),
    folder: folder === undefined ? undefined : resolve(folder),
    ...(reads.length > 0 ? { reads: reads.map((path) => resolve(path)) } : {}),
    ...{ network, sandbox },
  }
}

/**
 * Keys that are written in the file itself, found by the names of their headers or variables, and keys inside variables:
 * after `Bearer`, or a password in base64.
 */
function keysNamed(literal: Readonly<Record<string, string>>, { secrets }: Filling): string[] {
  const named = Object.entries(literal).filter(([name]) => /auth|cookie|key|secret|token|password/i.test(name))
  const keys = sentSecrets(named.map(([, value]) => value))
  return keys.filter((key) => !secrets.some((secret) => key.includes(secret)))
}

/** Replaces variables of the environment and collects their values. */
class Filling {
  readonly #environment: Environment | undefined
  readonly #where: string
  readonly #secrets = new Set<string>()

  constructor(environment: Environment | undefined, where: string) {
    this.#environment = environment
    this.#where = where
  }

  get secrets(): string[] {
    return [...this.#secrets]
  }

  fill(text: string): string {
    const environment = this.#environment
    if (!environment) return text
    return text.replaceAll(/\$\{(\w{1,100})\}/g, (_, variable: string) => {
      if (!VARIABLE.test(variable)) throw new ServersFault(`${this.#where}: ${variable} cannot be named here`)
      const found = environment[variable]?.trim() ?? ""
      if (found === "") throw new ServersFault(`${this.#where}: the variable ${variable} is not set`)
      if (found.length >= SHORTEST_SECRET) this.#secrets.add(found)
      return found
    })
  }

  fillAll(texts: Readonly<Record<string, string>>): Record<string, string> {
    return Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, this.fill(text)]))
  }
}

function parsed<T>(schema: z.ZodType<T>, input: unknown, where: string): T {
  const { data, error } = schema.safeParse(input, plainErrors)
  if (!error) return data
  const [issue] = error.issues
  const path = [where, ...(issue?.path ?? []).map(String)].filter(Boolean).join(".")
  throw new ServersFault(`${path || "the file"} ${issue?.message ?? "cannot be read"}`)
}

function parseJson(text: string): unknown {
  try {
    return readJson(text.replace(/^\uFEFF/, ""))
  } catch (error) {
    // The rest of the message may quote a secret.
    const [place] = /line \d+ column \d+/.exec((error as Error).message) ?? []
    throw new ServersFault(`the file is not valid JSON${place ? ` (${place.replace(" column", ", column")})` : ""}`)
  }
}
