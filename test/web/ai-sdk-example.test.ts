import { join } from "node:path"
import { rolldown } from "rolldown"
import { expect, test } from "vitest"
import { scripted } from "../../src/models/scripted/model.ts"
import { calls, hangs, replies, says } from "../../src/models/scripted/script.ts"
import { anyDatabase } from "../support/databases.ts"
import { openServer } from "../support/server/socket.ts"
import { newContext } from "../support/web/browser.ts"

const root = join(import.meta.dirname, "..", "..")

/** The example as a browser is given it. */
async function bundled(): Promise<string> {
  const bundle = await rolldown({
    ...{ cwd: root, input: "examples/ai-sdk/main.tsx", platform: "browser", logLevel: "silent" },
    transform: { jsx: "react-jsx", define: { "process.env.NODE_ENV": '"production"' } },
  })
  const { output } = await bundle.generate({ format: "esm", codeSplitting: false })
  return output[0].code
}

test("the example with useChat speaks, asks, is stopped and resumes after a reload, in a browser", async () => {
  const model = scripted(
    calls("create_task", { title: "Buy milk" }),
    says("It is on your list."),
    replies(says("A long "), hangs()),
  )
  await using server = await openServer({ database: anyDatabase[0]!, model })
  const token = await server.tokenFor("ada")
  const script = await bundled()
  const context = await newContext()
  // On the server's own address, as behind a proxy.
  await context.route(`${server.url}/example`, (route) =>
    route.fulfill({ contentType: "text/html", body: `<div id="root"></div><script type="module">${script}</script>` }),
  )
  const page = await context.newPage()
  const faults: string[] = []
  page.on("pageerror", (error) => faults.push(error.message))
  const open = async () => {
    await page.goto(`${server.url}/example`)
    await page.getByLabel("Token").fill(token)
    await page.getByText("Open").click()
    await page.getByLabel("Message").waitFor()
  }
  const say = async (words: string) => {
    await page.getByLabel("Message").fill(words)
    await page.getByText("Send").click()
  }

  await open()
  await say("add a task: buy milk")
  await page.getByText('Create task "Buy milk"').waitFor()
  await open() // what waits is there again
  await page.getByText("Agree").click()
  await page.getByText("create_task: output-available").waitFor()
  await page.getByText("It is on your list.").waitFor()

  await say("And now?")
  await page.getByText("A long").waitFor()
  await open() // in the middle of it
  await page.getByText("A long").waitFor()
  await page.getByText("Stop", { exact: true }).click()
  await page.locator('main[data-status="ready"]').waitFor()
  const { items } = (await (await server.visitor("ada")).get("/api/conversations")).body
  expect(items).toMatchObject([{ status: expect.not.stringMatching("running") }])
  const shown = await page.locator("article").allInnerTexts()
  expect(shown).toHaveLength(4)
  expect(faults).toEqual([])
})
