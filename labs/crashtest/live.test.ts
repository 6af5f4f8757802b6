import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { readConfig } from "../../apps/cli/settings/config.ts"
import { lifeSettings } from "./live.ts"

test("a life reaches neither the database of its operator nor MCP servers, whose tools it would really call", () => {
  const folder = mkdtempSync(join(tmpdir(), "pawl-life-"))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const file = join(folder, "mcp.json")
  writeFileSync(
    file,
    JSON.stringify({ mcpServers: { inn: { url: "https://inn.example/mcp", agents: ["workspace"] } } }),
  )
  const named = { PAWL_MCP: file, DATABASE_URL: "postgres://db.example/pawl", PAWL_TITLE_MODEL: "offline" }
  const config = readConfig({ PAWL_DATA: folder, ...named })
  expect(config).toMatchObject({ mcp: [{ name: "inn" }], databaseUrl: named.DATABASE_URL, titleModel: "offline" })
  const own = join(folder, "life")
  expect(lifeSettings(config, own)).toMatchObject({
    ...{ mcp: [], titleModel: undefined, dataFolder: own },
    databaseUrl: `file:${join(own, "pawl.db")}`,
  })
})
