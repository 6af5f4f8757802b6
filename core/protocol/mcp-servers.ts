import { z } from "zod"
import { boundedList, boundedRecord } from "../shared/text/bounded-list.ts"

/**
 * The sign-in state of a user at an MCP server: not signed in, signed in, expired, or signed in with too few scopes.
 */
export const mcpSignInStates = ["needed", "done", "ended", "more"] as const
export type McpSignInState = (typeof mcpSignInStates)[number]

/** The rule for a tool: run without approval, ask each time, or hide it from models. */
export const mcpToolRules = ["read", "ask", "off"] as const
export type McpToolRule = (typeof mcpToolRules)[number]

/** MCP servers of users. Of their configuration only the address is returned. */

const ServerName = z.string().regex(/^[a-z][a-z0-9]{0,23}$/, {
  message:
    "must start with a lowercase letter and have up to 24 lowercase letters and digits, because the names of its tools start with it",
})
const AgentName = z.string().min(1).max(64)
/** More than any server wants. */
const MAX_HEADERS = 50
const HeaderName = z
  .string()
  .regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/, { message: "is not a valid header name" })
  .refine((name) => !/^(?:host|connection|content-length|content-type|transfer-encoding|upgrade|te)$/i.test(name), {
    message: "cannot be set",
  })
const HeaderValue = z
  .string()
  .min(1)
  .max(8000)
  .regex(/^[\x20-\x7e]+$/, { message: "must be plain characters on one line" })

const Address = z
  .string()
  .max(2000)
  .regex(/^https?:\/\/[A-Za-z0-9.:[\]-]+(?:\/[\x21-\x7e]*)?$/, {
    message: "must be an address such as https://mcp.example/mcp",
  })
  .refine((text) => URL.canParse(text), { message: "is not an address" })

const OneLine = z
  .string()
  .min(1)
  .max(2000)
  .regex(/^[\x21-\x7e]+(?: [\x21-\x7e]+)*$/, { message: "must be plain characters on one line" })

/** For servers that accept only registered clients, or need a named scope. */
const OAuth = z.strictObject({
  clientId: OneLine.optional(),
  clientSecret: OneLine.optional(),
  /** With spaces between. */
  scope: OneLine.optional(),
})

export const NewMcpServer = z.strictObject({
  name: ServerName,
  url: Address,
  headers: boundedRecord(z.record(HeaderName, HeaderValue), MAX_HEADERS).default({}),
  /** The agents that may have its tools. */
  agents: boundedList(AgentName, 50, { least: 1 }).default(["workspace"]),
  /** `public` if its results are public; otherwise they count as the user's private data. */
  data: z.enum(["private", "public"]).default("private"),
  oauth: OAuth.optional(),
})
export type NewMcpServer = z.infer<typeof NewMcpServer>

/** Omitted fields do not change. A new address drops the credentials of the previous one. */
export const ChangedMcpServer = z.strictObject({
  name: ServerName.optional(),
  url: Address.optional(),
  /** `null` removes one. */
  headers: boundedRecord(z.record(HeaderName, HeaderValue.nullable()), MAX_HEADERS).optional(),
  agents: boundedList(AgentName, 50, { least: 1 }).optional(),
  data: z.enum(["private", "public"]).optional(),
  oauth: OAuth.nullable().optional(),
})
export type ChangedMcpServer = z.infer<typeof ChangedMcpServer>

const McpDefinition = z.object({
  hash: z.string(),
  description: z.string(),
  inputSchema: z.record(z.string(), z.unknown()),
  /** The tool's claims about itself, which decide nothing. */
  claims: z.object({
    readOnly: z.boolean().optional(),
    destructive: z.boolean().optional(),
    idempotent: z.boolean().optional(),
    task: z.enum(["optional", "required"]).optional(),
  }),
})

export const McpToolView = z.object({
  /** Its name on its server. */
  tool: z.string(),
  rule: z.enum(mcpToolRules),
  /**
   * Whether it may be repeated after a crash: it declares that this changes nothing, and the user accepts that.
   * Otherwise a person decides.
   */
  again: z.boolean(),
  /** Models are not offered `new` and `changed` tools until a person accepts their current definition. */
  state: z.enum(["agreed", "new", "changed"]),
  now: McpDefinition,
  /** For a changed tool: the definition that was accepted. */
  before: McpDefinition.optional(),
})
export type McpToolView = z.infer<typeof McpToolView>

export const McpServerView = z.object({
  name: z.string(),
  /** Who has added it. */
  by: z.enum(["operator", "person"]),
  /** Its address; for a program its name. */
  address: z.string(),
  /** The names of the headers that are sent to it. */
  headers: z.array(z.string()),
  agents: z.array(z.string()),
  data: z.enum(["private", "public"]),
  /** If it requires a sign-in: whether you are signed in, must sign in (again), or should grant more scopes. */
  signIn: z.enum(mcpSignInStates).optional(),
  tools: z.array(McpToolView),
})
export type McpServerView = z.infer<typeof McpServerView>

/** A decision about a tool, for the definition with this `hash`. */
export const McpDecision = z.strictObject({
  tool: z.string().min(1).max(128),
  hash: z.string().min(1).max(100),
  rule: z.enum(mcpToolRules).optional(),
  /** That it may be repeated after a crash, if it declares that this changes nothing. */
  again: z.boolean().optional(),
})
export type McpDecision = z.infer<typeof McpDecision>

/**
 * The target of the redirect after the sign-in: the page of this server, or a program on the user's machine, which forwards the result.
 */
export const McpSignInRequest = z.strictObject({
  redirect: z
    .string()
    .max(100)
    .regex(/^http:\/\/127\.0\.0\.1:\d{1,5}\/callback$/, { message: "must be like http://127.0.0.1:PORT/callback" })
    .optional(),
})

/** The query string with which the user came back. */
export const McpSignInAnswer = z.strictObject({ answer: z.string().min(1).max(16_000) })
