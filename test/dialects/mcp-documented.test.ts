import { expect, test } from "vitest"
import { loadedBy } from "../support/house/loaded-by.ts"

test("a server that is never asked by MCP loads its addresses, and nothing that speaks it", () => {
  const spoken = loadedBy("src/server/app.ts").filter((path) => /mcp/.test(path))
  expect(spoken.sort()).toEqual(["src/protocol/mcp.ts", "src/protocol/routes/mcp.ts", "src/server/routes/mcp/mcp.ts"])
})

test("a client of our own API, such as the page, carries nothing of MCP", () => {
  expect(loadedBy("src/client/index.ts").filter((path) => /mcp/.test(path))).toEqual([])
})
