import { expect, test } from "vitest"
import type { McpServer } from "../definition/server.ts"
import { findSignIn } from "./sign-in.ts"

const server = (url: string): McpServer => ({
  ...{ key: "mcp_1", version: "1", name: "notes", isPersons: true, agents: ["test"] },
  target: { kind: "http", url, headers: {} },
  ...{ rules: {}, idempotent: [], isPublic: false, timeoutSeconds: 10, taskSeconds: 10, secrets: [] },
})

test("sign-in is refused at a server whose tokens would be sent over plain http, whatever its sign-in address", async () => {
  const asked: string[] = []
  const fetch = Object.assign(
    async (input: Parameters<typeof globalThis.fetch>[0]) => {
      asked.push(String(input))
      return new Response(null, { status: 404 })
    },
    { found: { refused: undefined } },
  )
  const challenge = { metadataUrl: "https://mcp.example/metadata" }
  await expect(findSignIn(server("http://mcp.example/mcp"), fetch, challenge)).rejects.toThrow("plain http")
  expect(asked).toEqual([])
})
