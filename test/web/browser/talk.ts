import type { Locator, Page } from "playwright-core"

export const message = (page: Page): Locator => page.getByRole("textbox", { name: "Message" })

/** Sends a message on a page, in a new conversation if none is open. */
export async function say(page: Page, text: string): Promise<void> {
  await message(page).fill(text)
  await message(page).press("Enter")
}

/** Opens another of our pages as a click does: without a document request, which takes half a second. */
export const go = (page: Page, path: string): Promise<unknown> =>
  page.evaluate(`history.pushState(null, "", ${JSON.stringify(path)}), dispatchEvent(new PopStateEvent("popstate"))`)

/**
 * Leaves the open page and returns to it. The page has dropped its data by then and fetches it again, with the code that
 * also runs after a reload, at a fifth of the cost. A test about the start of a document, or about what it stores or
 * loses, must reload instead.
 */
export const reopen = (page: Page): Promise<unknown> =>
  page.evaluate(`new Promise((resolve) => {
    const { pathname } = location
    const go = (path) => (history.pushState(null, "", path), dispatchEvent(new PopStateEvent("popstate")))
    go("/nowhere")
    const isGone = () => document.querySelector("#main h2")?.textContent === "Page not found"
    const comeBack = () => (isGone() ? resolve(go(pathname)) : setTimeout(comeBack, 10))
    comeBack()
  })`)

/** Performs an action and waits for a text that appears only briefly, so that a later check could miss it. */
export async function tells(page: Page, text: string | RegExp, act: () => Promise<unknown>): Promise<void> {
  await Promise.all([page.getByText(text).waitFor(), act()])
}
