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

/**
 * Leaves what is open and comes back to it. The page has let go of it by then and asks the server for it anew, by the same
 * code that draws it after a reload; for a fifth of what a reload costs. Whoever tests what a document begins with, what
 * it has stored or what it has forgotten reloads it.
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

/** Does something of which the page tells in passing: whoever only looks afterwards may be too late to see it. */
export async function tells(page: Page, text: string | RegExp, act: () => Promise<unknown>): Promise<void> {
  await Promise.all([page.getByText(text).waitFor(), act()])
}
