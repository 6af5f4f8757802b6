import type { Page } from "playwright-core"

const PATIENCE_MS = 90_000

/** Approves one card of the inbox as a person would: opens long text first. */
export async function approveByHand(page: Page, id: string): Promise<void> {
  const card = page.locator(`article[aria-labelledby="proposal-${id}"]`)
  const button = card.getByRole("button", { name: "Approve", exact: true })
  await button.waitFor()
  if (await button.isDisabled()) await card.getByRole("button", { name: "Show the full text" }).click()
  await button.click()
  await card.waitFor({ state: "detached" })
}

/** Approves many cards at once with the page's own buttons. By hand each card takes half a second. */
export const approveAtOnce = (page: Page, ids: readonly string[]): Promise<unknown> =>
  page.evaluate(`Promise.all(${JSON.stringify(ids)}.map(async (id) => {
    const until = async (what, found) => {
      for (const end = Date.now() + ${PATIENCE_MS}; Date.now() < end; await new Promise((next) => setTimeout(next, 20))) {
        const it = found()
        if (it) return it
      }
      throw new Error("in vain: " + what + " of " + id)
    }
    const card = () => document.querySelector('article[aria-labelledby="proposal-' + id + '"]')
    const button = (says) => [...(card()?.querySelectorAll("button") ?? [])].find((each) => each.textContent.trim() === says)
    const approve = await until("Approve", () => button("Approve"))
    if (approve.disabled) button("Show the full text")?.click()
    await until("an Approve that is not held", () => button("Approve") && !button("Approve").disabled)
    button("Approve").click()
    await until("an end", () => !card())
  }))`)
