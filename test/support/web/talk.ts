import type { Locator, Page } from "playwright-core"

export const message = (page: Page): Locator => page.getByRole("textbox", { name: "Message" })

/** Says something on a page, in a new conversation where none is open. */
export async function say(page: Page, text: string): Promise<void> {
  await message(page).fill(text)
  await message(page).press("Enter")
}

/** To another page of ours, as a click does it: without asking the server for a document, which costs half a second. */
export const go = (page: Page, path: string): Promise<unknown> =>
  page.evaluate(`history.pushState(null, "", ${JSON.stringify(path)}), dispatchEvent(new PopStateEvent("popstate"))`)

/** Does something of which the page tells in passing: whoever only looks afterwards may be too late to see it. */
export async function tells(page: Page, text: string | RegExp, act: () => Promise<unknown>): Promise<void> {
  await Promise.all([page.getByText(text).waitFor(), act()])
}
