import { expect, test } from "vitest"
import { says } from "../../core/models/scripted/script.ts"
import { scripted } from "../../core/models/scripted/model.ts"
import { oneVisit } from "./browser/one-visit.ts"
import { Site } from "./browser/site.ts"
import { message, say } from "./browser/talk.ts"

const visit = oneVisit()

test("a reused tab has no data of the last test", async () => {
  const first = await Site.open({ model: scripted() })
  const { page, context } = await first.visit({ colorScheme: "dark", viewport: { width: 700, height: 500 } })
  await page.evaluate(
    `localStorage.setItem("left", 1), sessionStorage.setItem("left", 1), (document.cookie = "left=1")`,
  )
  await context.grantPermissions(["clipboard-read"])
  await page.route("**/api/**", (route) => route.abort())
  const heard: string[] = []
  page.on("request", (request) => heard.push(request.url()))
  const second = await first.look(context)
  await first[Symbol.asyncDispose]()
  expect(second.page.isClosed()).toBe(true)
  heard.length = 0

  await using site = await Site.open({ model: scripted() })
  const visit = await site.visit()
  expect(visit.page).toBe(page)
  expect(site.url).toBe(first.url)
  const kept = await page.evaluate(
    `[Object.keys(localStorage), sessionStorage.length, document.cookie.includes("left"), innerWidth, matchMedia("(prefers-color-scheme: dark)").matches]`,
  )
  expect(kept).toEqual([["pawl.session"], 0, false, 1280, false])
  expect(
    await page.evaluate(`navigator.permissions.query({ name: "clipboard-read" }).then(({ state }) => state)`),
  ).not.toBe("granted")
  expect(heard).toEqual([])
  // The page's storage survives a reload.
  await page.evaluate(`localStorage.setItem("mine", 1)`)
  await page.reload()
  expect(await page.evaluate(`localStorage.getItem("mine")`)).toBe("1")
  expect(visit.faults).toEqual([])
})

test("a reused visit has no data of the previous test, and does not reload the page", async () => {
  const { page, context, site, ada } = await visit.begin(scripted(says("First.")))
  await page.evaluate("window.isStillHere = true")
  await say(page, "something")
  await page.getByText("First.").waitFor()
  await ada.post("/api/workspace/tasks", { title: "Buy milk" })
  await page.locator("#search").fill("some")
  await page.setViewportSize({ width: 700, height: 500 })
  await page.emulateMedia({ colorScheme: "dark" })
  await page.evaluate(`localStorage.setItem("left", 1), sessionStorage.setItem("left", 1)`)
  await page.route("**/messages", (route) => route.abort())
  const other = await site.look(context)

  const { faults, ...next } = await visit.begin(scripted(says("Second.")))
  expect([next.page, next.site, other.page.isClosed()]).toEqual([page, site, true])
  expect([new URL(page.url()).pathname, await message(page).inputValue()]).toEqual(["/", ""])
  expect(await page.getByText("something").count()).toBe(0)
  expect((await ada.get("/api/workspace/tasks")).body.items).toEqual([])
  const kept = await page.evaluate(
    `[Object.keys(localStorage), sessionStorage.length, innerWidth, matchMedia("(prefers-color-scheme: dark)").matches, isStillHere]`,
  )
  expect(kept).toEqual([["pawl.session"], 0, 1280, false, true])
  await say(page, "something else")
  await page.getByText("Second.").waitFor()
  expect(await page.getByText("First.").count()).toBe(0)
  expect(faults).toEqual([])
})

test("a request to another machine finds no address, and is reported", async () => {
  await using site = await Site.open({ model: scripted() })
  const { page, faults } = await site.visit()
  // Outside the page's policy, which would block it first.
  await page.goto("about:blank")
  const tried = ["http://evil.example/x", "http://203.0.113.1/y"]
  const ends = tried.map((url) => page.waitForEvent("requestfailed", (request) => request.url() === url))
  for (const url of tried) await page.evaluate(`void (new Image().src = ${JSON.stringify(url)})`)
  const errors = await Promise.all(ends.map(async (end) => (await end).failure()?.errorText))
  expect(errors).toEqual(tried.map(() => "net::ERR_NAME_NOT_RESOLVED"))
  expect(faults.filter((fault) => fault.startsWith("left:"))).toEqual(tried.map((url) => `left: ${url}`))
})
