import { once } from "node:events"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { serve } from "@hono/node-server"
import { rolldown } from "rolldown"
import { afterEach, expect, test, vi } from "vitest"
import { scripted } from "../../core/models/scripted/model.ts"
import { calls, hangs, replies, says } from "../../core/models/scripted/script.ts"
import { anyDatabase } from "../support/databases.ts"
import { openServer } from "../support/server/socket.ts"
import { newContext } from "./browser/browser.ts"

const root = join(import.meta.dirname, "..", "..")
const app = join(root, "examples/next-js/app")

afterEach(() => vi.unstubAllEnvs())

/** The page as Next.js builds it for a browser, without Next.js, which takes a minute and 400 MB to install. */
async function bundledPage(): Promise<string> {
  const entry = `import { createElement } from "react"; import { createRoot } from "react-dom/client"
    import Page from ${JSON.stringify(join(app, "page.tsx"))}
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

/** The app on its own port: its page, and its route handler for all other requests. */
async function serveApp() {
  const page = await bundledPage()
  const handler = (await import(pathToFileURL(join(app, "ai-sdk/[[...path]]/route.ts")).href)) as {
    readonly GET: (request: Request) => Promise<Response>
  }
  const html = { headers: { "content-type": "text/html" } }
  const fetch = (request: Request) =>
    new URL(request.url).pathname === "/" ? new Response(page, html) : handler.GET(request)
  const server = serve({ fetch, port: 0, hostname: "127.0.0.1" })
  await once(server, "listening")
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, [Symbol.asyncDispose]: async () => void server.close() }
}

test("the Next.js example streams, asks for approval, runs a tool of the page, stops a run and resumes after a reload", async () => {
  const model = scripted(
    calls("create_task", { title: "Buy milk" }),
    says("It is on your list."),
    calls("client-set_theme", { theme: "dark" }),
    says("Now it is dark."),
    replies(says("A long "), hangs()),
  )
  await using server = await openServer({ database: anyDatabase[0]!, model })
  vi.stubEnv("PAWL_URL", server.url)
  vi.stubEnv("PAWL_TOKEN", "none of ours")
  await using example = await serveApp()
  const context = await newContext()
  const page = await context.newPage()
  const faults: string[] = []
  page.on("pageerror", (error) => faults.push(error.message))
  const say = async (words: string) => {
    await page.getByLabel("Message").fill(words)
    await page.getByText("Send").click()
  }

  await page.goto(example.url)
  await page.getByRole("alert").getByText("token").waitFor()
  vi.stubEnv("PAWL_TOKEN", await server.tokenFor("ada"))
  await page.reload()
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
  const { items } = (await (await server.visitor("ada")).get("/api/conversations")).body
  expect(items).toMatchObject([{ status: expect.not.stringMatching("running") }])
  expect(await page.locator("article").count()).toBe(6)
  expect(faults).toEqual([])
})
