import { readFileSync } from "node:fs"
import { join } from "node:path"
import { rolldown } from "rolldown"
import { expect, test } from "vitest"
import { scripted } from "../../src/models/scripted/model.ts"
import { calls, hangs, replies, says } from "../../src/models/scripted/script.ts"
import { anyDatabase } from "../support/databases.ts"
import { openServer } from "../support/server/socket.ts"
import { newContext } from "../support/web/browser.ts"

const root = join(import.meta.dirname, "..", "..")
const MODULE = '<script type="module" src="/main.tsx"></script>'

/** The example as a browser is given it: its page, with what it loads in its place. */
async function bundled(): Promise<string> {
  const bundle = await rolldown({
    ...{ cwd: root, input: "examples/ai-sdk/main.tsx", platform: "browser", logLevel: "silent" },
    transform: { jsx: "react-jsx", define: { "process.env.NODE_ENV": '"production"' } },
  })
  const { output } = await bundle.generate({ format: "esm", codeSplitting: false })
  const page = readFileSync(join(root, "examples/ai-sdk/index.html"), "utf8")
  return page.replace(MODULE, () => `<script type="module">${output[0].code}</script>`)
}

test("the example with useChat speaks, asks, has a tool of its own, is stopped and resumes after a reload, in a browser", async () => {
  const model = scripted(
    calls("create_task", { title: "Buy milk" }),
    says("It is on your list."),
    calls("client-set_theme", { theme: "dark" }),
    says("Now it is dark."),
    replies(says("A long "), hangs()),
  )
  await using server = await openServer({ database: anyDatabase[0]!, model })
  const token = await server.tokenFor("ada")
  const body = await bundled()
  const context = await newContext()
  // On the server's own address, as behind a proxy.
  await context.route(`${server.url}/example`, (route) => route.fulfill({ contentType: "text/html", body }))
  const page = await context.newPage()
  const faults: string[] = []
  page.on("pageerror", (error) => faults.push(error.message))
  const say = async (words: string) => {
    await page.getByLabel("Message").fill(words)
    await page.getByText("Send").click()
  }

  await page.goto(`${server.url}/example`)
  await page.getByLabel("Token").fill("none of ours")
  await page.getByText("Open").click()
  await page.getByRole("alert").waitFor()
  await page.getByLabel("Token").fill(token)
  await page.getByText("Open").click()
  await say("add a task: buy milk")
  await page.getByText('Create task "Buy milk"').waitFor()
  await page.reload() // the tab has kept its token, and what waits is there again
  await page.getByText("Agree").waitFor()
  await page.getByText("Agree").click()
  await page.getByText("create_task: done").waitFor()
  await page.getByText("It is on your list.").waitFor()

  await say("Make it dark")
  await page.getByText("Now it is dark.").waitFor()
  expect(await page.locator("html").getAttribute("data-theme")).toBe("dark")

  await say("And now?")
  await page.getByText("A long").waitFor()
  await page.reload() // in the middle of it
  await page.getByText("A long").waitFor()
  // What was carried out before is not carried out again by a page that only reads of it.
  expect(await page.locator("html").getAttribute("data-theme")).toBeNull()
  await page.getByText("Stop", { exact: true }).click()
  await page.locator('main[data-status="ready"]').waitFor()
  await page.getByText("Stopped.").waitFor()
  const { items } = (await (await server.visitor("ada")).get("/api/conversations")).body
  expect(items).toMatchObject([{ status: expect.not.stringMatching("running") }])
  expect(await page.locator("article").count()).toBe(6)
  expect(faults).toEqual([])
})
