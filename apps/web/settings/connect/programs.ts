import type { Scope } from "../../../../core/protocol/index.ts"
import type { Key } from "../../strings/strings.ts"

/** A program that can be connected, with its configuration. A test compares it with `docs/recipes/connect-other-programs.md`. */
export interface Program {
  readonly path: string
  readonly name: Key
  readonly hint: Key
  /** The permissions of its token: no more than it needs. */
  readonly scopes: readonly Scope[]
  readonly lines: (server: string, token: string) => string
  /** The file or place to paste the lines into. */
  readonly into: Key
  /** The page of the documentation about it. */
  readonly docs: string
}

/** The default lifetime of a token that is created on the page. */
export const TOKEN_DAYS = 90

/** The placeholder for a token that is not created yet. */
export const NO_TOKEN = "pawl_…"

const READ_AND_CHAT: readonly Scope[] = ["read", "chat"]
const READ_CHAT_AND_APPROVE: readonly Scope[] = ["read", "chat", "approve"]

export const programs: readonly Program[] = [
  {
    path: "terminal",
    name: "settings.programTerminal",
    hint: "settings.programTerminalHint",
    scopes: READ_CHAT_AND_APPROVE,
    into: "settings.runInShell",
    lines: (server, token) => `PAWL_TOKEN=${token} npx pawl chat --server ${server}`,
    docs: "guide/terminal",
  },
  {
    path: "editors",
    name: "settings.programEditors",
    hint: "settings.programEditorsHint",
    scopes: READ_CHAT_AND_APPROVE,
    into: "settings.programEditorsInto",
    lines: (server, token) =>
      json({
        agent_servers: {
          Pawl: { type: "custom", command: "pawl", args: ["acp", "--server", server], env: { PAWL_TOKEN: token } },
        },
      }),
    docs: "recipes/connect-an-editor",
  },
  {
    path: "claude-code",
    name: "settings.programClaudeCode",
    hint: "settings.programClaudeCodeHint",
    scopes: READ_AND_CHAT,
    into: "settings.runInShell",
    lines: (server, token) =>
      `claude mcp add --transport http pawl ${server}/mcp --header "Authorization: Bearer ${token}"`,
    docs: "recipes/connect-claude-desktop",
  },
  {
    path: "mcp",
    name: "settings.programMcp",
    hint: "settings.programMcpHint",
    scopes: READ_AND_CHAT,
    into: "settings.programMcpInto",
    lines: (server, token) =>
      json({ mcpServers: { pawl: { url: `${server}/mcp`, headers: { Authorization: `Bearer ${token}` } } } }),
    docs: "recipes/connect-mcp-clients",
  },
  {
    path: "openai",
    name: "settings.programOpenai",
    hint: "settings.programOpenaiHint",
    scopes: READ_AND_CHAT,
    into: "settings.programOpenaiInto",
    lines: (server, token) => `OPENAI_BASE_URL=${server}/v1\nOPENAI_API_KEY=${token}`,
    docs: "recipes/connect-openai-clients",
  },
  {
    path: "ai-sdk",
    name: "settings.programAiSdk",
    hint: "settings.programAiSdkHint",
    scopes: READ_CHAT_AND_APPROVE,
    into: "settings.programAiSdkInto",
    lines: (server, token) => `useChat({
  transport: new DefaultChatTransport({
    api: "${server}/ai-sdk",
    headers: { authorization: "Bearer ${token}" },
    body: { agent: "workspace" },
  }),
})`,
    docs: "recipes/connect-usechat",
  },
  {
    path: "ag-ui",
    name: "settings.programAgUi",
    hint: "settings.programAgUiHint",
    scopes: READ_CHAT_AND_APPROVE,
    into: "settings.programAgUiInto",
    lines: (server, token) => `new HttpAgent({
  url: "${server}/ag-ui/workspace",
  headers: { authorization: "Bearer ${token}" },
})`,
    docs: "recipes/connect-ag-ui",
  },
  {
    path: "http",
    name: "settings.programHttp",
    hint: "settings.programHttpHint",
    scopes: READ_AND_CHAT,
    into: "settings.runInShell",
    lines: (server, token) => `curl ${server}/api/agents -H "Authorization: Bearer ${token}"`,
    docs: "reference/http",
  },
]

const json = (value: unknown): string => JSON.stringify(value, null, 2)
