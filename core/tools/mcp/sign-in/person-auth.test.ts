import { expect, test } from "vitest"
import { TurnedClock } from "../../../engine/turned-clock.fixture.ts"
import type { UserId } from "../../../protocol/ids.ts"
import type { McpSignIns, StoredMcpSignIn } from "../../../engine/mcp.ts"
import type { McpServer } from "../definition/server.ts"
import { PersonTokens } from "./person-auth.ts"

const server = (url: string, isPersons = true): McpServer => ({
  ...{ key: "mcp_1", version: "1", name: "notes", isPersons, agents: ["test"] },
  target: { kind: "http", url, headers: {} },
  ...{ rules: {}, idempotent: [], isPublic: false, timeoutSeconds: 10, taskSeconds: 10, secrets: [] },
})
const at = { server: "https://sign-in.example", metadata: {}, client: {}, resource: "https://mcp.example/mcp" }

/** The token that is sent to a server, after this person signed in once at the same address. */
function tokenFor(asked: McpServer): Promise<string | undefined> {
  const { url } = asked.target as { url: string }
  const kept: StoredMcpSignIn = { url, state: "done", version: "1", granted: { at, accessToken: "secret-1" } }
  const signIns = { read: async () => kept } as unknown as McpSignIns
  const clock = new TurnedClock()
  const tokens = new PersonTokens({ signIns, options: { guardedFetch: fetch, operatorFetch: fetch, clock }, clock })
  return tokens.for(asked, "user_ada" as UserId).token()
}

test("a token is never sent over plain http to a person's server, however it was obtained", async () => {
  expect(await tokenFor(server("https://mcp.example/mcp"))).toBe("secret-1")
  expect(await tokenFor(server("http://mcp.example/mcp"))).toBeUndefined()
})

test("except to this machine, and to a server named by the operator", async () => {
  for (const host of ["localhost:8080", "127.0.0.1:8080", "[::1]:8080"])
    expect(await tokenFor(server(`http://${host}/mcp`))).toBe("secret-1")
  expect(await tokenFor(server("http://mcp.example/mcp", false))).toBe("secret-1")
})
