import { readFileSync } from "node:fs"
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client"
import { expect, test } from "vitest"
import { always, scripted } from "../../../core/models/scripted/model.ts"
import { calls, says } from "../../../core/models/scripted/script.ts"
import { databases } from "../../support/databases.ts"
import { loadedBy } from "../../house/sources.ts"
import { Face } from "../../support/server/face.ts"

const page = readFileSync(new URL("../../../docs/recipes/connect-mcp-clients.md", import.meta.url), "utf8")

test("the example of docs/recipes/connect-mcp-clients.md prints what the page says", async () => {
  const [, code = "", output] = /```ts\nimport [^\n]*\n(.*?)```.*?```text\n(.*?)```/s.exec(page) ?? []
  const { url } = await databases[0]!.create()
  const model = scripted(calls("create_task", { title: "Buy milk" }), always(says("Done.")))
  await using face = await Face.open({ url, model })
  const person = await face.store.people.ensure("ada", Date.now())
  const { token } = await face.store.people.createToken(person, ["read", "chat"], Date.now())
  const asked: string[] = []
  class Installed extends StreamableHTTPClientTransport {
    constructor(address: URL, options: object) {
      const here = async (to: string | URL, init?: RequestInit) => {
        asked.push(String(to))
        return face.fetch(new Request(String(to).replace("127.0.0.1:7295", "localhost"), init))
      }
      super(address, { ...options, fetch: here })
    }
  }
  const printed: unknown[] = []
  const names = ["Client", "StreamableHTTPClientTransport", "process", "console"]
  const run = new (Object.getPrototypeOf(async () => {}).constructor)(...names, code)
  await run(Client, Installed, { env: { PAWL_TOKEN: token } }, { log: (line: unknown) => printed.push(line) })
  expect(`${printed.join("\n")}\n`).toBe(output)
  expect(asked[0]).toBe("http://127.0.0.1:7295/mcp")
})

test("docs/reference/mcp-endpoint.md names every tool, with its scope", async () => {
  const page = readFileSync(new URL("../../../docs/reference/mcp-endpoint.md", import.meta.url), "utf8")
  const { serverTools: tools } = await import("../../../adapters/mcp/answer-message.ts")
  const rows = [...page.matchAll(/^\| (`.*?`) \| (read|chat) \|/gm)].flatMap(([, names = "", scope]) =>
    names.split(", ").map((name) => `${name.slice(1, -1)} ${scope}`),
  )
  expect(rows.sort()).toEqual(tools.map(({ name, needs }) => `${name} ${needs}`).sort())
})

test("a server without MCP requests loads only the routes", () => {
  const loaded = loadedBy("adapters/list.ts").filter((path) => path.startsWith("adapters/mcp/"))
  expect(loaded).toEqual(["adapters/mcp/adapter.ts"])
})

test("a server without OAuth sign-ins loads only the addresses of OAuth", () => {
  const loaded = loadedBy("core/server/app.ts").filter((path) => path.includes("account/oauth/"))
  expect(loaded).toEqual(["core/server/routes/account/oauth/oauth.ts"])
})

test("a client of our own API, such as the page, does not load MCP's server", () => {
  expect(loadedBy("client/index.ts").filter((path) => /routes\/mcp\.ts|protocol\/mcp\.ts|oauth/.test(path))).toEqual([])
})
