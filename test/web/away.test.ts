import type { Page } from "playwright-core"
import { expect, test } from "vitest"
import { calls, says } from "../../core/models/scripted/script.ts"
import { always, scripted } from "../../core/models/scripted/model.ts"
import { oneVisit } from "./browser/one-visit.ts"
import { Site } from "./browser/site.ts"
import { go, message, say } from "./browser/talk.ts"

// Everything requested while the server is away is retried when it is back.

const visit = oneVisit()
const away = (page: Page) => page.getByText("The server cannot be reached.").first()
const waits = (page: Page) => page.getByText("Sends when the server is back.")

test("every list that failed to load reloads when the server is back", async () => {
  const model = scripted(calls("create_task", { title: "Buy milk" }), always(says("Done.")))
  await using site = await Site.open({ model })
  const ada = await site.ada()
  const { page } = await site.visit({ unused: true }, "/tasks")
  // The code of each page has loaded; its data has not.
  for (const path of ["/inbox", "/audit", "/library", "/settings/tokens", "/"]) {
    await go(page, path)
    await page.getByRole("main").getByRole("heading").first().waitFor()
  }
  await site.leave()
  // Changed through the API, so that data shown afterwards was read afterwards.
  const id = await ada.begin({ title: "Shopping", mode: "auto" })
  await ada.say(id, "buy milk")
  await ada.post("/api/collections", { name: "Papers on wings" })
  await ada.post("/api/tokens", { name: "For the kitchen", scopes: ["read"] })
  await ada.post("/api/workspace/notes", { title: "Rye", content: "bread" })
  const lists = [
    ["/audit", page.locator("#main").getByRole("link", { name: "Shopping" })],
    ["/library", page.getByRole("heading", { name: "Papers on wings" })],
    ["/settings/tokens", page.getByText("For the kitchen")],
    ["/settings/connections", page.getByText("No databases yet.")],
    [`/c/${id}`, page.getByText("Done.", { exact: true })],
  ] as const
  for (const [path, shown] of lists) {
    await go(page, path)
    await away(page).waitFor()
    await site.comeBack()
    await shown.waitFor()
    await expect.poll(() => away(page).count()).toBe(0)
    await site.leave()
  }
  // A page whose code is missing too, in a browser with an empty cache.
  await go(page, "/notes")
  await page.getByRole("heading", { name: "This page could not be loaded" }).waitFor()
  await site.comeBack()
  await page.getByText("Rye").first().waitFor()
  // The list of conversations too, which follows the feed.
  await page.getByRole("navigation").getByRole("link", { name: "Shopping", exact: true }).waitFor()
})

test("a page opened while the server is away loads when it is back", async () => {
  const { page, context } = await visit.begin(scripted(always(says("ok"))))
  await page.route("**/api/auth/me", (route) => route.abort())
  await page.reload()
  await page.getByRole("heading", { name: "Cannot reach Pawl" }).waitFor()
  await context.unrouteAll()
  await page.unroute("**/api/auth/me")
  await message(page).waitFor()
})

test("messages sent while the server is away stay visible as pending, and are sent once and in order when it is back", async () => {
  const { site, ada, page } = await visit.begin(scripted(always(says("ok"))))
  const id = await ada.begin()
  await go(page, `/c/${id}`)
  await message(page).waitFor()
  await site.leave()
  await say(page, "one")
  await say(page, "two")
  await say(page, "three")
  await waits(page).first().waitFor()
  await expect.poll(() => waits(page).count()).toBe(3)
  // The last one is removed: its text is back in the composer.
  const last = page.getByRole("article", { name: "Your message, sending" }).filter({ hasText: "three" })
  await last.getByRole("button", { name: "Cancel sending" }).click()
  await expect.poll(() => message(page).inputValue()).toBe("three")
  await site.comeBack()
  const said = async () => {
    const { messages } = (await ada.get(`/api/conversations/${id}`)).body
    return messages.flatMap(({ role, content }: Record<string, string>) => (role === "user" ? [content] : []))
  }
  await expect.poll(said, { timeout: 60_000 }).toEqual(["one", "two"])
  await expect.poll(() => page.getByRole("article", { name: "Your message, sending" }).count()).toBe(0)
})

test("pending messages survive a reload of the page, and can be removed", async () => {
  const { ada, page } = await visit.begin(scripted(always(says("ok"))))
  const id = await ada.begin()
  await go(page, `/c/${id}`)
  await message(page).waitFor()
  // Only messages are blocked, so that the page itself can reload.
  await page.route("**/messages", (route) => route.abort())
  await say(page, "keep this")
  await waits(page).waitFor()
  await page.reload()
  await waits(page).waitFor()
  await page.getByRole("button", { name: "Cancel sending" }).click()
  await expect.poll(() => message(page).inputValue()).toBe("keep this")
  expect(await page.getByRole("article", { name: "Your message, sending" }).count()).toBe(0)
  await message(page).press("Enter")
  await waits(page).waitFor()
  await page.reload()
  await page.unroute("**/messages")
  await page.getByText("ok", { exact: true }).waitFor({ timeout: 90_000 })
  expect((await ada.get(`/api/conversations/${id}`)).body.messages).toHaveLength(2)
})

test("a message whose response was lost is sent once, and so is the first message of a conversation", async () => {
  const { ada, page } = await visit.begin(scripted(always(says("ok"))))
  // The server has processed the request, but the response is lost.
  let lost = 0
  for (const path of ["**/api/conversations", "**/messages"]) {
    let isFirst = true
    await page.route(path, async (route) => {
      if (route.request().method() !== "POST" || !isFirst) return route.continue()
      isFirst = false
      lost++
      await ada.post(new URL(route.request().url()).pathname, route.request().postDataJSON(), {
        ...(route.request().headers()["idempotency-key"]
          ? { "idempotency-key": route.request().headers()["idempotency-key"] as string }
          : {}),
      })
      return route.abort()
    })
  }
  await say(page, "only once")
  await waits(page).waitFor()
  await page.waitForURL(/\/c\/conv_/)
  await page.getByText("ok", { exact: true }).waitFor({ timeout: 90_000 })
  await expect
    .poll(() => page.getByRole("article", { name: "Your message, sending" }).count(), { timeout: 60_000 })
    .toBe(0)
  expect(lost).toBe(2)
  const { items } = (await ada.get("/api/conversations")).body
  expect(items).toHaveLength(1)
  const { messages } = (await ada.get(`/api/conversations/${items[0].id}`)).body
  expect(messages.map(({ content }: { content: string }) => content)).toEqual(["only once", "ok"])
})

test("a message that arrives in the conversation before its sender gets the response is shown once, and twice if sent twice", async () => {
  const { ada, page } = await visit.begin(scripted(always(says("ok"))))
  const id = await ada.begin()
  await go(page, `/c/${id}`)
  await message(page).waitFor()
  const mayAnswer = Promise.withResolvers<void>()
  await page.route("**/messages", async (route) => {
    const response = await route.fetch()
    await mayAnswer.promise
    await route.fulfill({ response })
  })
  await say(page, "once")
  await page.getByText("ok", { exact: true }).waitFor()
  expect(await page.getByRole("log").getByText("once", { exact: true }).count()).toBe(1)
  await say(page, "once")
  await page.getByRole("article", { name: "Your message, sending" }).waitFor()
  expect(await page.getByRole("log").getByText("once", { exact: true }).count()).toBe(2)
  mayAnswer.resolve()
  await expect.poll(() => page.getByText("ok", { exact: true }).count()).toBe(2)
  await expect.poll(() => page.getByRole("article", { name: "Your message, sending" }).count()).toBe(0)
  expect(await page.getByRole("log").getByText("once", { exact: true }).count()).toBe(2)
})
