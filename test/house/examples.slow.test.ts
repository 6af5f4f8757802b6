import { spawn } from "node:child_process"
import { cpSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { rolldown } from "rolldown"
import { beforeAll, expect, test } from "vitest"
import { chatChunk, chatReply, openLists, sse, streamHead } from "../../core/models/providers/server.fixture.ts"
import { openBrowser } from "../../scripts/chromium.ts"
import { databases } from "../support/databases.ts"
import { bring, type Installed, installPackage } from "../support/processes/installed-package.ts"
import { dataFolder, PawlProcess } from "../support/processes/pawl-process.ts"
import { calls } from "../terminal/terminal-world.ts"

// Each example as its reader runs it: a copy of its folder, with the packed package next to it.

const root = join(import.meta.dirname, "../..")
const postgres = databases.find(({ name }) => name === "postgres")
let installed: Installed

beforeAll(async () => {
  installed = await installPackage({ anew: false, typed: false })
  for (const name of ["hono", "@hono/node-server"]) bring(name, installed)
}, 300_000)

/** A copy of an example's folder. */
function copied(name: string): string {
  const folder = join(installed.folder, name)
  cpSync(join(root, "examples", name), folder, { recursive: true })
  return folder
}

/** An Ollama whose model gives these replies in turn. */
function playOllama(...replies: string[]) {
  return openLists((response, { path }) => {
    if (path === "/api/tags") return response.end(JSON.stringify({ models: [{ name: "qwen3:8b", model: "qwen3:8b" }] }))
    if (!path.endsWith("/chat/completions")) return response.writeHead(404).end()
    const reply = replies.shift() ?? chatReply("Nothing more.")
    return reply.includes("[DONE]") ? streamHead(response).end(reply) : streamHead(response).write(reply)
  })
}

test("each example pins the versions that Pawl is tested with, and its README says how to start it", () => {
  const { version, dependencies, devDependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
    readonly version: string
    readonly dependencies: Record<string, string>
    readonly devDependencies: Record<string, string>
  }
  const known: Record<string, string> = { ...dependencies, ...devDependencies, pawl: version, next: "16.4.6" }
  const names = readdirSync(join(root, "examples"))
  expect(names).toEqual(["hono", "next-js", "own-pack", "quickstart", "two-nodes"])
  for (const name of names) {
    const manifest = JSON.parse(readFileSync(join(root, "examples", name, "package.json"), "utf8")) as {
      readonly dependencies: Record<string, string>
      readonly devDependencies?: Record<string, string>
    }
    for (const [each, pinned] of Object.entries({ ...manifest.dependencies, ...manifest.devDependencies }))
      expect([each, pinned]).toEqual([each, known[each]])
    expect(readFileSync(join(root, "examples", name, "README.md"), "utf8")).toMatch(
      /npm install\n[\s\S]*npm (?:start|run dev)/,
    )
  }
})

test("quickstart asks in the terminal before it pays", async () => {
  await using ollama = await playOllama(
    calls("pay_invoice", { invoice: "2041", euros: 90 }),
    chatReply("Invoice 2041 is paid."),
  )
  const cwd = copied("quickstart")
  await using program = new PawlProcess([], { OLLAMA_HOST: ollama.url }, { script: "quickstart.ts", cwd, stdin: "y\n" })
  const { code, stdout, stderr } = await program.ended
  expect([code, stdout], stderr).toEqual([0, "Pay 2041: 90 euros? [y/N] Invoice 2041 is paid.\n"])
})

test("hono streams a reply, lists the waiting proposal, and writes after the approval", async () => {
  await using ollama = await playOllama(
    calls("take_from_stock", { part: "bolt", pieces: 5 }),
    chatReply("35 bolts are left."),
    chatReply("You are welcome."),
  )
  const cwd = copied("hono")
  await using program = new PawlProcess([], { OLLAMA_HOST: ollama.url, PORT: "0" }, { script: "server.ts", cwd })
  const [, url = ""] = await program.says(/listening on (\S+)/)
  expect(await (await fetch(url)).text()).toContain('placeholder="Take 5 bolts"')
  const post = async (path: string, body: object) =>
    (await fetch(`${url}${path}`, { method: "POST", body: JSON.stringify(body) })).text()
  const lines = async (body: object) =>
    (await post("/chat", body))
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { text?: string; answer?: Asked })
  const { answer } = (await lines({ text: "Take 5 bolts." })).at(-1)!
  expect(answer).toMatchObject({ status: "waiting", proposals: [{ summary: "Take 5 of bolt" }] })
  expect(JSON.parse(await post(`/proposals/${answer!.proposals[0]!.id}`, { approve: true }))).toMatchObject({
    status: "applied",
  })
  const after = await (await fetch(`${url}/chat/${answer!.conversationId}`)).json()
  expect(after).toMatchObject({ status: "answered", text: "35 bolts are left." })
  const more = await lines({ text: "Thanks.", conversation: answer!.conversationId })
  expect(more.map(({ text = "" }) => text).join("")).toBe("You are welcome.")
  expect(more.at(-1)?.answer).toMatchObject({ status: "answered", conversationId: answer!.conversationId })
})

interface Asked {
  readonly conversationId: string
  readonly proposals: readonly { readonly id: string }[]
}

/** The page as Next.js builds it for a browser, without Next.js, which takes a minute and 400 MB to install. */
async function bundleNextPage(): Promise<string> {
  const page = join(root, "examples/next-js/app/page.tsx")
  const entry = `import { createElement } from "react"; import { createRoot } from "react-dom/client"
    import Page from ${JSON.stringify(page)}
    createRoot(document.querySelector("#root")).render(createElement(Page))`
  const bundle = await rolldown({
    ...{ cwd: root, input: "entry", platform: "browser", logLevel: "silent" },
    plugins: [
      {
        name: "entry",
        resolveId: (id) => (id === "entry" ? join(root, "entry.js") : null),
        load: (id) => (id.endsWith("/entry.js") ? entry : null),
      },
    ],
    transform: { jsx: "react-jsx", define: { "process.env.NODE_ENV": '"production"' } },
  })
  const { output } = await bundle.generate({ format: "esm", codeSplitting: false })
  return `<!doctype html><html lang="en"><title>Chat</title><div id="root"></div><script type="module">${output[0].code.replaceAll("</script", "<\\/script")}</script>`
}

/** Serves the page, and the route handler for all other requests, as Next.js does. */
const NEXT_SERVER = `import { readFileSync } from "node:fs"
import { serve } from "@hono/node-server"
import { GET } from "./app/ai-sdk/[[...path]]/route.ts"
const page = readFileSync("page.html", "utf8")
const isPage = (request) => new URL(request.url).pathname === "/"
const fetch = (request) => (isPage(request) ? new Response(page, { headers: { "content-type": "text/html" } }) : GET(request))
serve({ fetch, port: 0, hostname: "127.0.0.1" }, ({ port }) => console.log("listening on http://127.0.0.1:" + port))
`

test("next-js streams, asks for approval, runs a tool of the page, stops a run and resumes after a reload", async ({
  skip,
}) => {
  const browser = await openBrowser().catch((error: Error) => error)
  if (browser instanceof Error) return skip(browser.message)
  await using ollama = await playOllama(
    calls("create_task", { title: "Buy milk" }),
    chatReply("It is on your list."),
    calls("client-set_theme", { theme: "dark" }),
    chatReply("Now it is dark."),
    sse(chatChunk({ role: "assistant", content: "A long " })), // and never ends
  )
  const cwd = copied("next-js")
  writeFileSync(join(cwd, "page.html"), await bundleNextPage())
  writeFileSync(join(cwd, "serve.mjs"), NEXT_SERVER)
  await using program = new PawlProcess([], { OLLAMA_HOST: ollama.url }, { script: "serve.mjs", cwd })
  const [, url = ""] = await program.says(/listening on (\S+)/)
  const page = await browser.newPage()
  const faults: string[] = []
  page.on("pageerror", (error) => faults.push(error.message))
  const say = async (words: string) => {
    await page.getByLabel("Message").fill(words)
    await page.getByText("Send").click()
  }

  await page.goto(url)
  await say("add a task: buy milk")
  await page.getByText('Create task "Buy milk"').waitFor()
  await page.reload() // what waits for approval is there again
  await page.getByText("Approve").waitFor()
  await page.getByText("Approve").click()
  await page.getByText("create_task: done").waitFor()
  await page.getByText("It is on your list.").waitFor()

  await say("Make it dark")
  await page.getByText("Now it is dark.").waitFor()
  expect(await page.locator("html").getAttribute("data-theme")).toBe("dark")

  await say("And now?")
  await page.getByText("A long").waitFor()
  await page.reload() // in the middle of it
  await page.getByText("A long").waitFor()
  // A page that only loads a conversation does not repeat its tool calls.
  expect(await page.locator("html").getAttribute("data-theme")).toBeNull()
  await page.getByText("Stop", { exact: true }).click()
  await page.locator('main[data-status="ready"]').waitFor()
  await page.getByText("Stopped.").waitFor()
  expect(await page.locator("article").count()).toBe(6)
  expect(faults).toEqual([])
  await browser.close()
})

test("own-pack is the pack that the recipe builds, and its agent answers", async () => {
  const [, recipe] = /```ts file=books\.ts\n([\s\S]*?)```/.exec(
    readFileSync(join(root, "docs/recipes/write-a-pack.md"), "utf8"),
  )!
  expect(readFileSync(join(root, "examples/own-pack/books.ts"), "utf8")).toBe(recipe)
  const settings = { PAWL_DATA: dataFolder(), PAWL_PACKS: "./books.ts" }
  const words = ["exec", "--agent", "librarian", "list loans"]
  await using program = new PawlProcess(words, settings, { script: installed.command, cwd: copied("own-pack") })
  const { code, stdout, stderr } = await program.ended
  expect([code, stdout], stderr).toEqual([0, expect.stringContaining("No book is lent.")])
})

test.runIf(postgres)(
  "in two-nodes the second server finishes the killed server's work",
  { timeout: 120_000 },
  async () => {
    await using database = await postgres!.createEmpty()
    const { PATH } = process.env
    const env = { PATH, HOME: dataFolder(), PAWL_DATA: dataFolder(), DATABASE_URL: database.url }
    const child = spawn(process.execPath, ["two-nodes.ts"], { cwd: copied("two-nodes"), env })
    const [stdout, stderr, code] = await Promise.all([
      Array.fromAsync(child.stdout.setEncoding("utf8")),
      Array.fromAsync(child.stderr.setEncoding("utf8")),
      new Promise<number | null>((ended) => child.once("close", ended)),
    ])
    expect([code, stdout.join("")], stderr.join("")).toEqual([
      0,
      "The first server works on: count to 6\nThe first server is killed.\nCounted to 6.\n",
    ])
  },
)
