import { readFileSync } from "node:fs"
import { expect, test } from "vitest"
import { always, scripted } from "../../../core/models/scripted/model.ts"
import { calls, says } from "../../../core/models/scripted/script.ts"
import { loadedBy } from "../../house/sources.ts"
import { databases } from "../../support/databases.ts"
import { aiSdkAs, NodeChat, sdk, textOf, type TransportOptions } from "../ai-sdk-client.ts"
import { Face } from "../../support/server/face.ts"

const pages = ["recipes/connect-usechat.md", "reference/ai-sdk.md"]
const page = pages.map((path) => readFileSync(new URL(`../../../docs/${path}`, import.meta.url), "utf8")).join("\n")
const AsyncFunction = Object.getPrototypeOf(async () => {}).constructor as new (
  ...names: string[]
) => (...values: unknown[]) => Promise<unknown>

test("the examples of docs/recipes/connect-usechat.md and docs/reference/ai-sdk.md do what the pages say", async () => {
  const { url } = await databases[0]!.create()
  let declared: string[] = []
  const model = scripted(
    calls("create_task", { title: "Buy milk" }),
    always(({ tools }) => {
      declared = tools.map(({ name }) => name)
      return says("Done.")
    }),
  )
  await using face = await Face.open({ url, model })
  const { token, transport } = await aiSdkAs(face, "ada")
  const asked: string[] = []
  const here = (async (address: string, init: RequestInit) => {
    asked.push(`${init.method} ${address}`)
    return face.fetch(
      new Request(new URL(address, "http://localhost").href.replace("127.0.0.1:7295", "localhost"), init),
    )
  }) as typeof fetch
  class Installed extends sdk.DefaultChatTransport {
    constructor(options: TransportOptions) {
      super({ ...options, fetch: here })
    }
  }

  const [, code = "", output] = /```ts\nimport \{[^}]*\} from "ai"\n(.*?)```.*?```text\n(.*?)```/s.exec(page) ?? []
  const printed: unknown[] = []
  const names = ["DefaultChatTransport", "readUIMessageStream", "process", "console"]
  const run = new AsyncFunction(...names, code)
  const log = (line: unknown) => printed.push(line)
  await run(Installed, sdk.readUIMessageStream, { env: { PAWL_TOKEN: token } }, { log })
  expect(`${printed.join("\n")}\n`).toBe(output)
  expect(asked).toEqual(["POST http://127.0.0.1:7295/ai-sdk", "POST http://127.0.0.1:7295/ai-sdk"])

  // The transports of the other examples, with the token and the agent that they omit.
  const made = [...page.matchAll(/```ts\n(new DefaultChatTransport.*?)```/gs)].map(([, text]) => {
    class Given extends Installed {
      constructor(options: TransportOptions) {
        super({ ...transport, ...options, headers: transport.headers! })
      }
    }
    return new Function("DefaultChatTransport", `return ${text}`)(Given) as object
  })
  const [tooled, short] = made.map((each, at) => new NodeChat({ id: at === 0 ? "map" : "long", transport: each }))
  await tooled!.sendMessage({ text: "Where is Oslo?" })
  expect(declared).toContain("client-show_map")
  await short!.sendMessage({ text: "One" })
  await short!.sendMessage({ text: "Two" })
  expect([short!.messages.length, textOf(short!.lastMessage)]).toEqual([4, "Done."])
  const reloaded = new NodeChat({ id: "long", transport: made[1]! })
  await reloaded.resumeStream()
  expect(reloaded.messages).toEqual([short!.lastMessage])
  expect(asked.at(-1)).toBe("GET /ai-sdk/long/stream")

  const [, stop = ""] = /```ts\n(await fetch.*?)```/s.exec(page) ?? []
  await new AsyncFunction("fetch", "headers", "chat", stop)(here, transport.headers, short)
  expect(asked.at(-1)).toBe("POST /ai-sdk/long/stop")
})

test("a server without AI SDK requests loads only the routes and their schemas", () => {
  const spoken = (entry: string) => loadedBy(entry).filter((path) => /ai-sdk/.test(path))
  expect(spoken("adapters/list.ts").toSorted()).toEqual([
    "adapters/ai-sdk/adapter.ts",
    "core/protocol/dialects/ai-sdk.ts",
    "core/protocol/routes/dialects/ai-sdk.ts",
  ])
  expect(spoken("client/index.ts")).toEqual([])
})
