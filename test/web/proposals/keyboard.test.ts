import type { Page } from "playwright-core"
import { expect, test } from "vitest"
import { calls, says } from "../../../core/models/scripted/script.ts"
import { always, scripted } from "../../../core/models/scripted/model.ts"
import { oneVisit } from "../browser/one-visit.ts"
import { say } from "../browser/talk.ts"

const visit = oneVisit()

const focused = (page: Page) =>
  page.evaluate(`(document.activeElement.getAttribute("aria-label") ?? document.activeElement.textContent).trim()`)

test("a proposal is edited in place by keyboard alone, and leaving the form restores the focus", async () => {
  const { page, faults } = await visit.begin(
    scripted(calls("create_task", { title: "Buy milk" }), always(says("Done."))),
  )
  await say(page, "go")
  const edit = page.getByRole("button", { name: "Edit", exact: true })
  await edit.press("Enter")
  await page.keyboard.press("Escape")
  expect(await focused(page)).toBe("Edit")
  await page.keyboard.press("Enter")
  await page.keyboard.press("ControlOrMeta+a")
  // It contains an n, the shortcut for a new conversation outside of fields.
  await page.keyboard.type("Not now")
  await page.keyboard.press("Enter")
  await page.getByText('Create task "Not now"').waitFor()
  await page.getByRole("button", { name: "Reject", exact: true }).press("Enter")
  await page.keyboard.press("Escape")
  expect(await focused(page)).toBe("Reject")
  const again = page.getByRole("button", { name: "Edit and resend" })
  await again.press("Enter")
  const words = page.getByRole("textbox", { name: "Your message" })
  await words.press("Escape")
  expect(await focused(page)).toBe("Edit and resend")
  // Enter sends, as in the composer.
  await page.keyboard.press("Enter")
  await words.fill("one")
  await words.press("Shift+Enter")
  await page.keyboard.type("two")
  expect(await words.inputValue()).toBe("one\ntwo")
  const first = page.url()
  await words.press("Enter")
  await expect.poll(() => page.url()).not.toBe(first)
  expect(faults).toEqual([])
})
