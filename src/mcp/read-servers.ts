import { resolve } from "node:path"
import { z } from "zod"
import { mcpToolRules } from "../protocol/ports/mcp.ts"
import { sentSecrets } from "./definition/sent-secrets.ts"
import { type HttpTarget, type McpServer, type ProgramTarget, SERVER_NAME } from "./definition/server.ts"

type Environment = Readonly<Record<string, string | undefined>>

/** What is wrong with the operator's servers, in a sentence that quotes nothing secret. */
export class ServersFault extends Error {
  override readonly name = "ServersFault"
}

const TIMEOUT_SECONDS = 60
const TASK_SECONDS = 3600
/** No key is shorter, and hiding what is would blacken half of what is told. */
const SHORTEST_SECRET = 12
/** Our own secrets are nobody's key. */
const VARIABLE = /^(?!PAWL_|PG|NATS_|MASTER_ENCRYPTION_KEY|DATABASE_URL$)[A-Z_][A-Z0-9_]{0,99}$/

/** Made when there is such a file: a start without one does not pay for it. */
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
      network: z.boolean().default(false),
      sandbox: z.boolean().default(true),
      ...common,
    }),
  }
}

type Schemas = ReturnType<typeof schemas>

/** The servers in the text of a file, with the variables that they name read from the environment. Throws a `ServersFault`. */
export function readServers(text: string, environment: Environment): McpServer[] {
  const { file, http, program } = schemas()
  const { mcpServers } = parsed(file, parseJson(text), "")
  return Object.entries(mcpServers).map(([name, entry]) => {
    if (!SERVER_NAME.test(name))
      throw new ServersFault(
        `"${name.slice(0, 40)}" is no name of a server: a small letter, then up to 23 small letters and digits`,
      )
    const isProgram = typeof entry === "object" && entry !== null && "command" in entry
    const filling = new Filling(environment, name)
    const read = isProgram ? parsed(program, entry, name) : parsed(http, entry, name)
    const { agents, tools, idempotent, data, timeoutSeconds, taskSeconds } = read
    const target = "command" in read ? toProgram(read, filling) : toHttp(read, filling)
    return {
      ...{ key: `=${name}`, version: "", name, isPersons: false, target, agents, rules: tools, idempotent },
      ...{
        isPublic: data === "public",
        timeoutSeconds,
        taskSeconds,
        secrets: [...filling.secrets, ...keysInHeaders(target, filling)],
      },
    }
  })
}

function toHttp({ url, headers, oauth }: z.infer<Schemas["http"]>, filling: Filling): HttpTarget {
  const target = { kind: "http", url: filling.fill(url), headers: filling.fillAll(headers) } as const
  return oauth ? { ...target, oauth: filling.fillAll(oauth as Record<string, string>) } : target
}

function toProgram(read: z.infer<Schemas["program"]>, filling: Filling): ProgramTarget {
  const { command, args, env, folder, network, sandbox } = read
  return {
    kind: "program",
    command: [command, ...args.map((word) => filling.fill(word))],
    environment: filling.fillAll(env),
    folder: folder === undefined ? undefined : resolve(folder),
    ...{ network, sandbox },
  }
}

/**
 * Keys that stand in the file itself, by the names of their headers: others may be anybody's words. And what a variable holds
 * with more around it: the key behind a `Bearer`, a password in base64.
 */
function keysInHeaders(target: HttpTarget | ProgramTarget, { secrets }: Filling): string[] {
  if (target.kind !== "http") return []
  const named = Object.entries(target.headers).filter(([name]) => /auth|cookie|key|secret|token|password/.test(name))
  const keys = sentSecrets(named.map(([, value]) => value))
  return keys.filter((key) => !secrets.some((secret) => key.includes(secret)))
}

/** Puts variables of the environment in their places, and remembers what they held. */
class Filling {
  readonly #environment: Environment
  readonly #where: string
  readonly #secrets = new Set<string>()

  constructor(environment: Environment, where: string) {
    this.#environment = environment
    this.#where = where
  }

  get secrets(): string[] {
    return [...this.#secrets]
  }

  fill(text: string): string {
    return text.replaceAll(/\$\{(\w{1,100})\}/g, (_, variable: string) => {
      if (!VARIABLE.test(variable)) throw new ServersFault(`${this.#where}: ${variable} cannot be named here`)
      const found = this.#environment[variable]?.trim() ?? ""
      if (found === "") throw new ServersFault(`${this.#where}: the variable ${variable} is not set`)
      if (found.length >= SHORTEST_SECRET) this.#secrets.add(found)
      return found
    })
  }

  fillAll(texts: Readonly<Record<string, string>>): Record<string, string> {
    return Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, this.fill(text)]))
  }
}

function parsed<T>(schema: z.ZodType<T>, given: unknown, where: string): T {
  const { data, error } = schema.safeParse(given)
  if (!error) return data
  const [issue] = error.issues
  const path = [where, ...(issue?.path ?? []).map(String)].filter(Boolean).join(".")
  throw new ServersFault(`${path ? `${path}: ` : ""}${issue?.message ?? "it cannot be read"}`)
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ""))
  } catch {
    throw new ServersFault("it is not JSON")
  }
}
