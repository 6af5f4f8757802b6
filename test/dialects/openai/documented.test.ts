import { readFileSync } from "node:fs"
import { expect, test } from "vitest"
import { always, scripted } from "../../../core/models/scripted/model.ts"
import { calls, says } from "../../../core/models/scripted/script.ts"
import { loadedBy } from "../../house/sources.ts"
import { databases } from "../../support/databases.ts"
import { OpenAI, openAiAs, type OpenAiOptions } from "../openai-client.ts"
import { Face } from "../../support/server/face.ts"

const pages = ["recipes/connect-openai-clients.md", "reference/openai-api.md"]
const page = pages.map((path) => readFileSync(new URL(`../../../docs/${path}`, import.meta.url), "utf8")).join("\n")

const [, first = "", firstOutput = ""] =
  /```ts\nimport OpenAI from "openai"\n(.*?)```.*?```text\n(.*?)```/s.exec(page) ?? []
const [, functions = "", functionsOutput = ""] = /```ts\n(const tools = .*?)```.*?```text\n(.*?)```/s.exec(page) ?? []
const [, resumed = "", resumedOutput = ""] = /```ts\n(let \[id, .*?)```.*?```text\n(.*?)```/s.exec(page) ?? []
const [, files = "", filesOutput = ""] = /```ts\n(const file = .*?)```.*?```text\n(.*?)```/s.exec(page) ?? []
const [, conversations = "", conversationsOutput = ""] =
  /```ts\n(const conversation = .*?)```.*?```text\n(.*?)```/s.exec(page) ?? []
const head = first.slice(0, first.indexOf("const answer"))

test.each([
  {
    what: "the first example",
    code: first,
    output: firstOutput,
    replies: [calls("create_task", { title: "Buy milk" }), always(says("All kinds of things."))],
  },
  {
    what: "the example with a function",
    code: head + functions,
    output: functionsOutput,
    replies: [calls("client-get_weather", { city: "Oslo" }), says("It rains in Oslo.")],
  },
  {
    what: "the example with a file",
    code: head + files,
    output: filesOutput,
    replies: [says("It is Bertha's.")],
    asks: "files",
  },
  {
    what: "the example with a conversation",
    code: head + conversations,
    output: conversationsOutput,
    replies: [says("It is Bertha's.")],
    asks: "conversations",
  },
  {
    what: "the example of a stream that goes on",
    code: head + resumed,
    output: resumedOutput,
    replies: [always(says("All kinds of things.", { chunks: 4 }))],
    asks: "responses",
  },
])(
  "$what of docs/recipes/connect-openai-clients.md and docs/reference/openai-api.md prints what the page says",
  async ({ code, output, replies, asks = "chat/completions" }) => {
    const { url } = await databases[0]!.create()
    await using face = await Face.open({ url, model: scripted(...replies) })
    const { token } = await openAiAs(face, "ada")
    const asked: string[] = []
    class Installed extends OpenAI {
      constructor(options: OpenAiOptions) {
        const here = async (address: string, init: RequestInit) => {
          // The client tries with a data URL whether fetch can send a form.
          if (address.startsWith("data:")) return fetch(address, init)
          asked.push(address)
          return face.fetch(new Request(address.replace("127.0.0.1:7295", "localhost"), init))
        }
        super({ ...options, fetch: here as typeof fetch })
      }
    }
    const printed: unknown[] = []
    const names = ["OpenAI", "process", "console"]
    const run = new (Object.getPrototypeOf(async () => {}).constructor)(...names, code)
    await run(Installed, { env: { PAWL_TOKEN: token } }, { log: (...line: unknown[]) => printed.push(line.join(" ")) })
    expect(`${printed.join("\n")}\n`).toBe(output)
    expect(asked[0]).toBe(`http://127.0.0.1:7295/v1/${asks}`)
  },
)

test("a server without OpenAI requests loads only the routes and their schemas", () => {
  const spoken = loadedBy("adapters/list.ts").filter((path) => /openai/.test(path))
  expect(spoken.sort()).toEqual([
    "adapters/openai/adapter.ts",
    "core/protocol/dialects/openai-responses.ts",
    "core/protocol/dialects/openai.ts",
    "core/protocol/routes/dialects/openai.ts",
  ])
})

test("a client of our own API, such as the page, loads nothing of the OpenAI API", () => {
  const carried = loadedBy("client/index.ts")
  expect(carried).toContain("core/protocol/routes/own-routes.ts")
  expect(carried.filter((path) => /openai/.test(path))).toEqual([])
})
