import type { Scope } from "../../../src/protocol/index.ts"

/** A program that can be connected, with what is pasted into it. `docs/connect.md` has the same lines; a test compares. */
export interface Program {
  readonly path: string
  readonly name: string
  readonly says: string
  /** What its token may do: no more than it needs. None where it signs in by itself, or brings its own. */
  readonly scopes: readonly Scope[]
  readonly lines: (server: string, token: string) => string
  /** Where the lines go. */
  readonly into: string
  /** The page of the documents that tells the rest. */
  readonly docs: string
}

/** What stands in the place of a token that is not made yet. */
export const NO_TOKEN = "pawl_…"

const READS_AND_SPEAKS: readonly Scope[] = ["read", "chat"]
const DECIDES_TOO: readonly Scope[] = ["read", "chat", "approve"]

export const programs: readonly Program[] = [
  {
    path: "terminal",
    name: "Terminal",
    says: "The agents in a terminal, in the folder you are in. What you approve here is done there.",
    scopes: DECIDES_TOO,
    into: "a shell",
    lines: (server, token) => `PAWL_TOKEN=${token} npx pawl chat --server ${server}`,
    docs: "terminal",
  },
  {
    path: "editors",
    name: "Editors",
    says: "Zed, and other editors that speak the Agent Client Protocol: changes as differences that you say yes or no to.",
    scopes: DECIDES_TOO,
    into: "settings.json of Zed",
    lines: (server, token) =>
      json({
        agent_servers: {
          Pawl: { type: "custom", command: "pawl", args: ["acp", "--server", server], env: { PAWL_TOKEN: token } },
        },
      }),
    docs: "editors",
  },
  {
    path: "claude-code",
    name: "Claude Code",
    says: "Asks your agents and reads what you have here. What would change something waits for you in this page.",
    scopes: READS_AND_SPEAKS,
    into: "a shell",
    lines: (server, token) =>
      `claude mcp add --transport http pawl ${server}/mcp --header "Authorization: Bearer ${token}"`,
    docs: "mcp-server",
  },
  {
    path: "mcp",
    name: "Other MCP clients",
    says: "Cursor and others with a list of MCP servers. One that can sign in by itself needs only the address.",
    scopes: READS_AND_SPEAKS,
    into: "the client's list of servers",
    lines: (server, token) =>
      json({ mcpServers: { pawl: { url: `${server}/mcp`, headers: { Authorization: `Bearer ${token}` } } } }),
    docs: "mcp-server",
  },
  {
    path: "openai",
    name: "OpenAI’s API",
    says: "Programs that were written for OpenAI take an agent as a model. Writes wait for you.",
    scopes: READS_AND_SPEAKS,
    into: "the program's environment; its model is pawl/workspace",
    lines: (server, token) => `OPENAI_BASE_URL=${server}/v1\nOPENAI_API_KEY=${token}`,
    docs: "openai",
  },
  {
    path: "ai-sdk",
    name: "AI SDK",
    says: "Pages made with useChat, with approvals and a stop that stops.",
    scopes: DECIDES_TOO,
    into: "the page",
    lines: (server, token) => `useChat({
  transport: new DefaultChatTransport({
    api: "${server}/ai-sdk",
    headers: { authorization: "Bearer ${token}" },
    body: { agent: "workspace" },
  }),
})`,
    docs: "ai-sdk",
  },
  {
    path: "ag-ui",
    name: "AG-UI",
    says: "Frontends that speak AG-UI, such as CopilotKit's; a write is an interrupt.",
    scopes: DECIDES_TOO,
    into: "the frontend",
    lines: (server, token) => `new HttpAgent({
  url: "${server}/ag-ui/workspace",
  headers: { authorization: "Bearer ${token}" },
})`,
    docs: "ag-ui",
  },
  {
    path: "http",
    name: "HTTP",
    says: "Anything that can send a request.",
    scopes: READS_AND_SPEAKS,
    into: "a shell",
    lines: (server, token) => `curl ${server}/api/agents -H "Authorization: Bearer ${token}"`,
    docs: "http",
  },
]

const json = (value: unknown): string => JSON.stringify(value, null, 2)
