import { expect, test } from "vitest"
import { scripted } from "../../src/models/scripted/model.ts"
import { Site } from "../support/web/site.ts"

test("a tab that is used again has forgotten what the last test left in it", async () => {
  const first = await Site.open({ model: scripted() })
  const { page, context } = await first.visit({ colorScheme: "dark", viewport: { width: 700, height: 500 } })
  await page.evaluate(
    `localStorage.setItem("left", 1), sessionStorage.setItem("left", 1), (document.cookie = "left=1")`,
  )
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
  expect(heard).toEqual([])
  // What the page itself stores outlives a reload, as ever.
  await page.evaluate(`localStorage.setItem("mine", 1)`)
  await page.reload()
  expect(await page.evaluate(`localStorage.getItem("mine")`)).toBe("1")
  expect(visit.faults).toEqual([])
})

test("what would leave this machine finds no address, and is told", async () => {
  await using site = await Site.open({ model: scripted() })
  const { page, faults } = await site.visit()
  // Away from the policy of the page, which would stop it before.
  await page.goto("about:blank")
  const tried = ["http://evil.example/x", "http://203.0.113.1/y"]
  const ends = tried.map((url) => page.waitForEvent("requestfailed", (request) => request.url() === url))
  for (const url of tried) await page.evaluate(`void (new Image().src = ${JSON.stringify(url)})`)
  const errors = await Promise.all(ends.map(async (end) => (await end).failure()?.errorText))
  expect(errors).toEqual(tried.map(() => "net::ERR_NAME_NOT_RESOLVED"))
  expect(faults.filter((fault) => fault.startsWith("left:"))).toEqual(tried.map((url) => `left: ${url}`))
})
