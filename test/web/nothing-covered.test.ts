import type { Page } from "playwright-core"
import { expect, test } from "vitest"
import { calls, says } from "../../core/models/scripted/script.ts"
import { always, scripted } from "../../core/models/scripted/model.ts"
import { Priced } from "../support/loop/priced.ts"
import { oneIn } from "../support/sizes.ts"
import { oneVisit } from "./browser/one-visit.ts"
import { Site } from "./browser/site.ts"
import { go, message, reopen, say } from "./browser/talk.ts"

// Toasts, drops, and a phone of 360 pixels.

const PHONE = { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true }
const desktop = oneVisit()
const phone = oneVisit({}, PHONE)

/** Returns the visible controls whose centre is covered by another element, or that a toast overlaps. */
const coveredControls = (page: Page): Promise<string[]> =>
  page.evaluate(`(() => {
    const toasts = [...document.querySelectorAll('[data-toast]')]
    const boxes = toasts.map((each) => each.getBoundingClientRect())
    const own = (each) => toasts.some((toast) => toast.contains(each))
    // Content that is scrolled out is clipped at the edge of its scroll container.
    const sight = (each) => {
      let { left, right, top, bottom } = each.getBoundingClientRect()
      for (let up = each.parentElement; up; up = up.parentElement) {
        if (getComputedStyle(up).overflow === 'visible') continue
        const edge = up.getBoundingClientRect()
        ;[left, right] = [Math.max(left, edge.left), Math.min(right, edge.right)]
        ;[top, bottom] = [Math.max(top, edge.top), Math.min(bottom, edge.bottom)]
      }
      return { left, right, top, bottom, isThere: right - left > 1 && bottom - top > 1 }
    }
    const controls = [...document.querySelectorAll('button, a[href], input, textarea, select, summary')]
    const seen = controls.filter((each) => each.checkVisibility() && !each.closest('[inert]') && !own(each))
    return seen.flatMap((each) => {
      const box = sight(each)
      if (!box.isThere) return []
      const meets = boxes.some((t) => t.left < box.right && box.left < t.right && t.top < box.bottom && box.top < t.bottom)
      const top = document.elementFromPoint((box.left + box.right) / 2, (box.top + box.bottom) / 2)
      return meets || (top && own(top)) ? [each.getAttribute('aria-label') || each.textContent || each.id] : []
    })
  })()`)

/** A toast that disappears by itself at this moment is gone too. */
const dismiss = (page: Page) =>
  page
    .locator("[data-toast]")
    .first()
    .getByRole("button", { name: "Dismiss" })
    .click({ timeout: 1000 })
    .catch(() => {})

/** Drops a file on the element at a position, as the browser does; returns true if the browser would have opened the file. */
const drop = (page: Page, name: string, text: string, selector = "body"): Promise<boolean> =>
  page.evaluate(`(() => {
    const carried = new DataTransfer()
    carried.items.add(new File([${JSON.stringify(text)}], ${JSON.stringify(name)}))
    const target = document.querySelector(${JSON.stringify(selector)})
    const send = (type) => target.dispatchEvent(new DragEvent(type, { dataTransfer: carried, bubbles: true, cancelable: true }))
    const overIsOurs = !send('dragover')
    return send('drop') || !overIsOurs
  })()`)

const looks: readonly [string, typeof desktop][] = [
  ["desktop", desktop],
  ["phone", phone],
]
test.each(oneIn(2, looks))("on a %s a toast covers no control, on any page", async (_name, visit) => {
  const { ada, page } = await visit.begin(scripted(calls("create_task", { title: "x" }), always(says("ok"))))
  const id = await ada.begin({ title: "Shopping" })
  await ada.say(id, "go")
  const places = { [`/c/${id}`]: "Shopping", "/": "What would you like to do?", "/inbox": "Inbox", "/tasks": "Tasks" }
  const toasts = page.locator("[data-toast]")
  /** Shows two toasts on a page, by dropping files where it accepts none. Two, so that one more leaves two visible. */
  async function arrive(path: string, words: string): Promise<void> {
    await go(page, "/inbox")
    await page.locator("#main").getByRole("heading", { name: "Inbox" }).first().waitFor()
    for (const name of ["a.bin", "b.bin"]) expect(await drop(page, name, "x")).toBe(false)
    await toasts.nth(1).waitFor()
    await go(page, path)
    await page.locator("#main").getByRole("heading", { name: words }).first().waitFor()
    // On a busy machine they may have disappeared meanwhile.
    if ((await toasts.count()) < 2) await arrive(path, words)
  }
  for (const [path, words] of Object.entries({ ...places, "/settings/models": "Models", "/settings/data": "Export" })) {
    await arrive(path, words)
    expect(await coveredControls(page)).toEqual([])
    // And it takes no space once it is gone.
    while ((await toasts.count()) > 0) await dismiss(page)
    await expect.poll(() => toasts.count()).toBe(0)
    const below = await page.evaluate("document.getElementById('main').getBoundingClientRect().bottom - innerHeight")
    expect(below).toBe(0)
  }
})

test("a file dropped anywhere is accepted where possible, and never replaces the page", async () => {
  const { ada, page, faults } = await desktop.begin(scripted(always(says("ok"))))
  await message(page).fill("a draft")
  // The message draft accepts it.
  expect(await drop(page, "letter.txt", "Dear Ada", "#composer")).toBe(false)
  await page.getByRole("list", { name: "Files of this message" }).getByText("letter.txt").waitFor()
  expect([new URL(page.url()).pathname, await message(page).inputValue()]).toEqual(["/", "a draft"])
  await go(page, "/inbox")
  await page.locator("#main").getByRole("heading", { name: "Inbox" }).first().waitFor()
  expect(await drop(page, "letter.txt", "Dear Ada")).toBe(false)
  await page.getByText("Files cannot be dropped here.").first().waitFor()
  // For a table a dialog asks, on the current page; nothing is stored before the person answers.
  expect(await drop(page, "people.csv", "name,age\nAda,36\n")).toBe(false)
  const dialog = page.getByRole("dialog", { name: "What do you want to do with this file?" })
  await dialog.getByText("people.csv").waitFor()
  expect(await dialog.getByRole("button", { name: /^Attach it/ }).count()).toBe(0)
  await dialog.getByRole("button", { name: /^Create database/ }).click()
  await dialog.getByRole("columnheader", { name: /age/ }).waitFor()
  await dialog.getByRole("button", { name: "Cancel" }).click()
  await dialog.waitFor({ state: "detached" })
  expect(new URL(page.url()).pathname).toBe("/inbox")
  expect((await ada.get("/api/connections")).body.items).toEqual([])

  // A page with one drop target accepts files anywhere.
  await ada.post("/api/collections", { name: "Wings" })
  await go(page, "/library")
  await page.getByRole("heading", { name: "Wings" }).waitFor()
  expect(await drop(page, "lift.md", "# Lift\n\nA wing lifts.", "h1")).toBe(false)
  await page.getByText("lift.md").first().waitFor()
  await ada.post("/api/collections", { name: "Tails" })
  await reopen(page)
  await page.getByRole("heading", { name: "Tails" }).waitFor()
  expect(await drop(page, "drag.md", "# Drag", "h1")).toBe(false)
  await page.getByText("Drop it on the one you mean").waitFor()
  // Dragging text into a field is not a file drop.
  await go(page, "/")
  await message(page).waitFor()
  const moved = await page.evaluate(`(() => {
    const carried = new DataTransfer()
    carried.setData('text/plain', 'words')
    return document.querySelector('#composer').dispatchEvent(new DragEvent('drop', { dataTransfer: carried, bubbles: true, cancelable: true }))
  })()`)
  expect(moved).toBe(true)
  // The inbox may still request the change of the previous test, which was deleted with its conversation.
  expect(faults.filter((fault) => !/404 .*\/api\/agent\/proposals\//.test(fault))).toEqual([])
})

test("the bar that approves all fits a phone of 360 pixels", async () => {
  const long = { title: "A task with a rather long name that would not fit into one line of a phone" }
  const model = scripted(calls(["create_task", long], ["create_task", { title: "y" }]), always(says("Done.")))
  const { page } = await phone.begin(model)
  await say(page, "go")
  await page.getByText("2 changes need your approval.").waitFor()
  for (const name of ["Approve all", "Reject all", "More options for all"]) {
    const box = await page.getByRole("button", { name }).boundingBox()
    expect(box && box.x >= 0 && box.x + box.width <= 360).toBe(true)
  }
  // Its three buttons stand in one line below its text.
  const tops = await Promise.all(
    ["Approve all", "Reject all", "More options for all"].map(
      async (name) => (await page.getByRole("button", { name }).boundingBox())?.y,
    ),
  )
  expect(Math.max(...(tops as number[])) - Math.min(...(tops as number[]))).toBeLessThan(6)
})

test("the usage fits a phone of 360 pixels", async () => {
  await using site = await Site.open({
    model: new Priced({ usage: { inputTokens: 12_345_678, outputTokens: 1_234_567 } }),
  })
  const ada = await site.ada()
  await ada.say(await ada.begin({ title: "A conversation with a rather long name that would not fit" }), "hi")
  const { page } = await site.visit(PHONE, "/settings/usage")
  await page.getByRole("table").first().waitFor()
  const isWhole = `[...document.querySelectorAll("table, td:not(:first-child), [role=group]")].every((each) => {
    const { left, right, width } = each.getBoundingClientRect()
    return width > 0 && left >= 0 && right <= innerWidth && each.scrollWidth <= each.clientWidth + 1
  })`
  expect(await page.evaluate(isWhole)).toBe(true)
  await page.getByText("12,345,678").first().waitFor()
  expect(await page.getByRole("columnheader", { name: "Input tokens" }).count()).toBe(3)
  expect(await page.evaluate("document.documentElement.scrollWidth > innerWidth")).toBe(false)
})

test("names without a space fit a phone of 360 pixels, in workspace lists and on their own pages", async () => {
  const { ada, page } = await phone.begin(scripted())
  const name = "Donaudampfschifffahrtsgesellschaftskapitän".repeat(4)
  const { id: clientId } = (await ada.post("/api/workspace/clients", { name, industry: name })).body
  const { id } = (await ada.post("/api/workspace/projects", { name, clientId })).body
  await ada.post("/api/workspace/tasks", { title: name, projectId: id })
  await ada.post("/api/workspace/checkpoints", { title: name, projectId: id, date: Date.now() })
  /** Texts that are cut off on the right without an ellipsis. */
  const cutOff = `[...document.querySelectorAll("#main bdi")].filter((each) => {
    if (!each.checkVisibility() || each.getBoundingClientRect().right <= innerWidth) return false
    for (let up = each; up; up = up.parentElement) if (getComputedStyle(up).textOverflow === "ellipsis") return false
    return true
  }).map((each) => each.parentElement.className)`
  for (const path of ["/clients", "/projects", `/projects/${id}`, "/tasks"]) {
    await go(page, path)
    await page.locator("#main").locator("li, [data-task]").getByText(name).first().waitFor()
    expect([path, await page.evaluate(cutOff)]).toEqual([path, []])
  }
})
