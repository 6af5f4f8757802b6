import { z } from "zod"
import { boundedList, boundedRecord } from "../shared/text/bounded-list.ts"

/**
 * Where a person stands with a server that wants a sign-in: not signed in yet, signed in, signed in until the tokens ended,
 * or signed in and asked for more than was allowed.
 */
export const mcpSignInStates = ["needed", "done", "ended", "more"] as const
export type McpSignInState = (typeof mcpSignInStates)[number]

/** What is decided about a tool: it runs unasked, a person is asked each time, or no model sees it. */
export const mcpToolRules = ["read", "ask", "off"] as const
export type McpToolRule = (typeof mcpToolRules)[number]

/** MCP servers that people name: how they are reached goes in, and of it only the address comes out. */

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

/** For servers that take only programs that they know, or have to be told what for. */
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
  /** `public` where what it tells is anybody's; otherwise it counts as the person's own. */
  data: z.enum(["private", "public"]).default("private"),
  oauth: OAuth.optional(),
})
export type NewMcpServer = z.infer<typeof NewMcpServer>

/** What is not told of stays. With another address it keeps nothing that was given for the one before. */
export const ChangedMcpServer = z.strictObject({
  name: ServerName.optional(),
  url: Address.optional(),
  /** `null` takes one away. */
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
  /** What it says of itself, which decides nothing. */
  claims: z.object({
    readOnly: z.boolean().optional(),
    destructive: z.boolean().optional(),
    idempotent: z.boolean().optional(),
    task: z.enum(["optional", "required"]).optional(),
  }),
})

export const McpToolView = z.object({
  /** What its server calls it. */
  tool: z.string(),
  rule: z.enum(mcpToolRules),
  /** Whether it may run again after a crash: it says that this changes nothing, and somebody agrees. Otherwise a person decides. */
  again: z.boolean(),
  /** `new` and `changed` ones no model is shown, until somebody agrees to what they are now. */
  state: z.enum(["agreed", "new", "changed"]),
  now: McpDefinition,
  /** Of one that has changed: what was agreed to. */
  before: McpDefinition.optional(),
})
export type McpToolView = z.infer<typeof McpToolView>

export const McpServerView = z.object({
  name: z.string(),
  /** Who has named it. */
  by: z.enum(["operator", "person"]),
  /** Where it is; of a program its name. */
  address: z.string(),
  /** The names of the headers that are sent to it. */
  headers: z.array(z.string()),
  agents: z.array(z.string()),
  data: z.enum(["private", "public"]),
  /** Where it wants a sign-in: whether you are signed in, have to (again), or should allow more. */
  signIn: z.enum(mcpSignInStates).optional(),
  tools: z.array(McpToolView),
})
export type McpServerView = z.infer<typeof McpServerView>

/** What somebody decides about a tool, having seen it as `hash` says. */
export const McpDecision = z.strictObject({
  tool: z.string().min(1).max(128),
  hash: z.string().min(1).max(100),
  rule: z.enum(mcpToolRules).optional(),
  /** That it may run again after a crash, where it says itself that this changes nothing. */
  again: z.boolean().optional(),
})
export type McpDecision = z.infer<typeof McpDecision>

/** Where the answer goes: to the page of this server, or to a program on the machine of who asks, which brings it here. */
export const McpSignInRequest = z.strictObject({
  redirect: z
    .string()
    .max(100)
    .regex(/^http:\/\/127\.0\.0\.1:\d{1,5}\/callback$/, { message: "must be like http://127.0.0.1:PORT/callback" })
    .optional(),
})

/** What stood behind the question mark when the person came back. */
export const McpSignInAnswer = z.strictObject({ answer: z.string().min(1).max(16_000) })
