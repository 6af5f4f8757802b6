import { readFileSync } from "node:fs"
import { expect, test } from "vitest"
import { always, scripted } from "../../../core/models/scripted/model.ts"
import { calls, says } from "../../../core/models/scripted/script.ts"
import { loadedBy } from "../../house/sources.ts"
import { databases } from "../../support/databases.ts"
import { agUi, HttpAgent } from "../ag-ui-client.ts"
import { Face } from "../../support/server/face.ts"

const pages = ["recipes/connect-ag-ui.md", "reference/ag-ui.md"]
const page = pages.map((path) => readFileSync(new URL(`../../../docs/${path}`, import.meta.url), "utf8")).join("\n")

test("the examples of docs/recipes/connect-ag-ui.md and docs/reference/ag-ui.md print what the pages say", async () => {
  const examples = [...page.matchAll(/```ts\nimport \{[^}]*\} from "@ag-ui\/client"\n(.*?)```.*?```text\n(.*?)```/gs)]
  const [code, output] = [1, 2].map((part) => examples.map((example) => example[part]).join(""))
  const { url } = await databases[0]!.create()
  await using face = await Face.open({
    url,
    model: scripted(calls("create_task", { title: "Buy milk" }), always(says("Done."))),
  })
  const person = await face.store.people.ensure("ada", Date.now())
  const { token } = await face.store.people.createToken(person, ["read", "chat", "approve"], Date.now())
  class Installed extends HttpAgent {
    constructor(options: { url: string; headers: Record<string, string> }) {
      const fetch = (address: string, init: RequestInit) =>
        face.fetch(new Request(address.replace("127.0.0.1:7295", "localhost"), init))
      super({ ...options, fetch })
    }
  }
  const printed: unknown[] = []
  const names = ["HttpAgent", "runHttpRequest", "transformHttpEventStream", "process", "console"]
  const run = new (Object.getPrototypeOf(async () => {}).constructor)(...names, code)
  await run(
    Installed,
    agUi.runHttpRequest,
    agUi.transformHttpEventStream,
    { env: { PAWL_TOKEN: token } },
    { log: (line: unknown) => printed.push(line) },
  )
  expect(`${printed.join("\n")}\n`).toBe(output)
})

test("a server without AG-UI requests loads only the route and its schema", () => {
  expect(
    loadedBy("adapters/list.ts")
      .filter((path) => /ag-ui/.test(path))
      .toSorted(),
  ).toEqual(["adapters/ag-ui/adapter.ts", "core/protocol/dialects/ag-ui.ts", "core/protocol/routes/dialects/ag-ui.ts"])
  expect(loadedBy("client/index.ts").filter((path) => /ag-ui/.test(path))).toEqual([])
})
