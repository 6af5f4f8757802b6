import { type CallToolResult, Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client"
import type { Scope } from "../../core/protocol/account/sign-in.ts"
import type { Face } from "../support/server/face.ts"

/** The protocol generation of a client: with a handshake, or with all information in each message. */
export const ERAS = ["legacy", "2026-07-28"] as const
export type Era = (typeof ERAS)[number]

export interface McpPerson extends AsyncDisposable {
  readonly client: Client
  readonly token: string
  /** The id of the token, to revoke it. */
  readonly tokenId: string
  call(name: string, input?: Record<string, unknown>, options?: object): Promise<McpAnswer>
}

export interface McpAnswer {
  readonly text: string
  readonly isError: boolean
  // oxlint-disable-next-line typescript/no-explicit-any -- whatever the server said; tests look into it freely
  readonly facts: any
}

/** Creates a person who uses the official client against a server in this process. */
export async function mcpAs(face: Face, name: string, era: Era, ...granted: Scope[]): Promise<McpPerson> {
  const person = await face.store.people.ensure(name, Date.now())
  const scopes: Scope[] = granted.length > 0 ? granted : ["read", "chat", "approve", "manage"]
  const { id: tokenId, token } = await face.store.people.createToken(person, scopes, Date.now())
  const ask = async (url: string | URL, init?: RequestInit) => face.fetch(new Request(url, init))
  return { ...(await connectMcp("http://localhost/mcp", { token, era, fetch: ask as typeof fetch })), token, tokenId }
}

export async function connectMcp(
  url: string,
  { token, era, fetch: ask }: { readonly token: string; readonly era: Era; readonly fetch?: typeof fetch },
): Promise<Pick<McpPerson, "client" | "call" | typeof Symbol.asyncDispose>> {
  const client = new Client(
    { name: "test", version: "1" },
    { versionNegotiation: { mode: era === "legacy" ? "legacy" : { pin: era } } },
  )
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    requestInit: { headers: { authorization: `Bearer ${token}` } },
    ...(ask ? { fetch: ask } : {}),
  })
  await client.connect(transport)
  return {
    client,
    call: async (name, input = {}, options = {}) =>
      toAnswer((await client.callTool({ name, arguments: input }, options)) as CallToolResult),
    [Symbol.asyncDispose]: () => client.close(),
  }
}

export function toAnswer({ content, isError, structuredContent }: CallToolResult): McpAnswer {
  const texts = content.map((part) => (part.type === "text" ? part.text : `(${part.type})`))
  return { text: texts.join("\n"), isError: isError === true, facts: structuredContent }
}
