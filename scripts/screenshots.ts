/**
 * Takes the pictures of the guide, docs/images/*.png, from the real page and a real server. Only the model's replies
 * are prepared. `node scripts/screenshots.ts [folder]`
 */
import { mkdir, mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Browser, Page } from "playwright-core"
import { calls, replies, says, scripted } from "../core/testing.ts"
import { listen } from "../core/server/listen.ts"
import { openPageFiles } from "../core/server/routes/page.ts"
import { linkFor } from "../test/support/server/browser.ts"
import { Face } from "../test/support/server/face.ts"
import { buildPage } from "./build-page.ts"
import { openBrowser } from "./chromium.ts"

const root = join(import.meta.dirname, "..")
const folder = process.argv[2] ?? join(root, "docs", "images")

const LOOKED = `Three things are open before the launch, and one of them is late:

| Task | Due | Priority |
|---|---|---|
| Write the launch mail | **yesterday** | medium |
| Check the invoices | tomorrow | high |
| Book the room | Friday | low |

I would move the mail to tomorrow and put it first, and note who has to read it. Both changes wait for you below.`

const SQL = `SELECT product.category, round(sum(line.quantity * line.price_cents) / 100.0, 2) AS revenue
FROM purchase_line line
JOIN purchase ON purchase.id = line.purchase_id
JOIN product ON product.id = line.product_id
WHERE purchase.bought_on LIKE '2025-%'
GROUP BY product.category
ORDER BY revenue DESC`

const model = scripted(
  calls("list_tasks", { status: "todo" }),
  replies(
    says(LOOKED),
    calls(
      ["update_task", { task_id: "Write the launch mail", priority: "high", title: "Write and send the launch mail" }],
      [
        "create_note",
        { title: "Readers of the launch mail", content: "Ada, Grace and Edsger read it before it goes out." },
      ],
    ),
  ),
  says("Both are done. The mail is first on your list for tomorrow."),
  calls("ask_database", { query: "What did each category bring in 2025?" }),
  says(`\`\`\`sql\n${SQL}\n\`\`\``),
  says("**Machines** brought the most in 2025, more than everything else together."),
)

await buildPage({ ifStale: true })
await mkdir(folder, { recursive: true })
const data = await mkdtemp(join(tmpdir(), "pawl-pictures-"))
const page = openPageFiles(join(root, "dist", "web"))
const url = `file:${join(data, "pawl.db")}`
const face = await Face.open({ url, model, sqliteRoot: join(data, "databases"), instead: { page } })
const server = await listen((request, env) => face.fetch(request, env), { host: "127.0.0.1", port: 0 })
const browser = await openBrowser()
// Closing at the end waits for timers that do not keep the process alive.
const awake = setInterval(() => {}, 1000)
try {
  await prepare()
  await take(browser)
} finally {
  await browser.close()
  await server.close(0)
  await face[Symbol.asyncDispose]()
  await rm(data, { recursive: true, force: true })
  clearInterval(awake)
}

async function prepare(): Promise<void> {
  const ada = await face.as("Ada")
  const day = 24 * 60 * 60 * 1000
  const tasks = [
    { title: "Write the launch mail", priority: "medium", dueDate: Date.now() - day },
    { title: "Check the invoices", priority: "high", dueDate: Date.now() + day },
    { title: "Book the room", priority: "low", dueDate: Date.now() + 4 * day },
  ]
  for (const task of tasks) {
    const { status, text } = await ada.post("/api/workspace/tasks", task)
    if (status !== 201) throw new Error(text)
  }
  for (const title of ["Notes from the call with Acme", "Invoices of October", "A week in Rome"])
    await ada.begin({ title })
}

async function take(browser: Browser): Promise<void> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 860 }, deviceScaleFactor: 1.5 })
  const tab = await context.newPage()
  await tab.goto(`${server.url}/sign-in#${await linkFor(face, "Ada")}`)
  await tab.getByRole("list", { name: "Agents" }).waitFor()
  await tab.getByRole("textbox", { name: "Message" }).fill("What is left before the launch? Put what matters first.")
  await tab.keyboard.press("Enter")
  await tab.getByText("2 changes need your approval.").waitFor()
  await shoot(tab, "proposals")
  await tab.getByRole("button", { name: "Approve all" }).click()
  await tab.getByText("Both are done.").waitFor()
  await tab.goto(server.url)
  await tab
    .getByRole("list", { name: "Agents" })
    .getByRole("button", { name: /^Analyst/ })
    .click()
  await tab.getByRole("button", { name: "Try the sample database" }).click()
  await tab.getByRole("button", { name: "Database: Sample shop" }).waitFor()
  await tab.getByRole("textbox", { name: "Message" }).fill("What did each category bring in 2025?")
  await tab.keyboard.press("Enter")
  await tab.getByText("brought the most").waitFor()
  await tab.frameLocator("iframe[title^='Chart']").locator("[aria-roledescription=bar]").first().waitFor()
  await tab.setViewportSize({ width: 1280, height: 860 })
  await shoot(tab, "analyst")
}

async function shoot(tab: Page, name: string): Promise<void> {
  await tab.mouse.move(0, 0)
  await tab.waitForTimeout(700) // transitions have ended
  await tab.screenshot({ path: join(folder, `${name}.png`) })
}
