import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { newId } from "../../src/protocol/ids.ts"
import { says } from "../../src/models/script.ts"
import { always, scripted } from "../../src/models/scripted.ts"
import { PacedModel } from "./paced-model.ts"
import { Site } from "./site.ts"

test("the first load is less than 300 kB", () => {
  const built = join(import.meta.dirname, "..", "..", "dist", "web")
  const html = readFileSync(join(built, "index.html"), "utf8")
  const named = [...html.matchAll(/(?:src|href)="\.\/(assets\/[^"]+)"/g)].map(([, path]) => path ?? "")
  expect(named.length).toBeGreaterThanOrEqual(3)
  const bytes = named.reduce((sum, path) => sum + readFileSync(join(built, `${path}.gz`)).length, html.length)
  expect(bytes).toBeLessThan(300_000)
  // Colours for code come when there is code.
  const lazy = readdirSync(join(built, "assets")).filter((name) => /^rehype-highlight.*\.js$/.test(name))
  expect(lazy).toHaveLength(1)
  expect(named).not.toContain(`assets/${lazy[0]}`)
})

const PARAGRAPH = "Some words that a model might write, with **bold** and `code` in it. "

test("a reply of 2,000 pieces does not make the page stutter", async () => {
  const model = new PacedModel()
  await using site = await Site.open({ model })
  const { page, faults } = await site.visit()
  await page.getByRole("textbox", { name: "Message" }).fill("Write")
  await page.keyboard.press("Enter")
  model.write("Begin.\n\n")
  await page.getByText("Begin.").waitFor()
  await page.evaluate(`
    window.tasks = []
    new PerformanceObserver((list) => tasks.push(...list.getEntries().map(({ duration }) => duration))).observe({ type: "longtask" })
    window.frames = []
    let last = performance.now()
    const tick = (now) => { frames.push(now - last); last = now; requestAnimationFrame(tick) }
    requestAnimationFrame(tick)
  `)
  for (let piece = 1; piece <= 2000; piece++) {
    const text = piece % 200 === 100 ? "\n\n```ts\nconst a = 1\n```\n\n" : piece % 25 === 0 ? "\n\n" : PARAGRAPH
    model.write(text)
    if (piece % 10 === 0) await new Promise((resolve) => setTimeout(resolve, 20))
  }
  model.write("\n\nThe end.").end()
  await page.getByText("The end.").waitFor()
  const { tasks, frames } = (await page.evaluate("({ tasks, frames })")) as { tasks: number[]; frames: number[] }
  // Of all pictures drawn meanwhile, how long the page was busy for one: a long task is one of 50 ms and more.
  const busy = frames.map((_, index) => tasks[index] ?? 0).sort((a, b) => a - b)
  const p95 = busy[Math.floor(busy.length * 0.95)] ?? 0
  const longest = Math.max(0, ...tasks)
  process.stdout.write(
    `2,000 pieces: ${frames.length} pictures, ${tasks.length} long tasks, p95 ${p95} ms, longest ${longest} ms\n`,
  )
  expect(p95).toBeLessThan(50)
  expect(longest).toBeLessThan(500)
  expect(faults).toEqual([])
})

test("a conversation of 2,000 messages opens in less than a second, and can be read back to its start", async () => {
  await using site = await Site.open({ model: scripted(always(says("ok"))) })
  const ada = await site.ada()
  const id = await ada.begin({ title: "Long" })
  const user = (await ada.get("/api/auth/me")).body.user.id
  const { runtime } = site.face.pawl
  for (let turn = 1; turn <= 1000; turn++) {
    await runtime.submit(id as never, { type: "message", id: newId("msg"), text: `Question ${turn}`, when: "queue" })
    await runtime.rest(id as never)
  }
  expect(user).toMatch(/^user_/)
  const { page, faults } = await site.visit()
  const begun = Date.now()
  await page.getByRole("button", { name: "Long", exact: true }).click()
  await page.getByText("Question 1000", { exact: true }).waitFor()
  const ms = Date.now() - begun
  process.stdout.write(`2,000 messages: shown after ${ms} ms\n`)
  expect(ms).toBeLessThan(1000)
  // Only what is in view is drawn.
  expect(await page.getByRole("article").count()).toBeLessThan(60)
  const log = page.getByRole("log", { name: "Conversation" })
  await expect
    .poll(
      async () => {
        await log.evaluate("(element) => element.scrollTo(0, 0)").catch(() => {})
        await page.evaluate("document.querySelector('[role=log]').scrollTop = 0")
        return page.getByText("Question 1", { exact: true }).count()
      },
      { timeout: 30_000, interval: 50 },
    )
    .toBe(1)
  expect(await page.getByRole("article").count()).toBeLessThan(60)
  expect(faults).toEqual([])
})
