import type { BrowserContext, Page, ViewportSize } from "playwright-core"
import { onTestFailed } from "vitest"
import type { Model, ModelRequest } from "../../../core/engine/model.ts"
import { atEndOfFile } from "../../support/end-of-file.ts"
import type { FaceOptions, Visitor } from "../../support/server/face.ts"
import { Site, type Visit } from "./site.ts"
import { type TabOptions, USUAL } from "./tabs.ts"
import { go } from "./talk.ts"

type OneVisitOptions = Omit<FaceOptions, "url" | "model">

const opened = new Set<OneVisit>()
atEndOfFile(async () => {
  for (const each of opened) await each.end()
  opened.clear()
})

/**
 * Opens one server and one tab for the tests of a file, because composing a server and loading a page costs more than most
 * tests. Not for tests about signing in or about a new server or person. Each test begins on the page for a new
 * conversation, with its own model and a person without data. Data that cannot be deleted stays (audit, usage, tokens):
 * a test reads only what it has created, or opens its own site. `tab`: options of the tab.
 */
export const oneVisit = (options: OneVisitOptions = {}, tab: TabOptions = {}): OneVisit => {
  const visit = new OneVisit(options, tab)
  opened.add(visit)
  return visit
}

export interface Beginning extends Visit {
  readonly site: Site
  /** The person of the page, for changes through the API. */
  readonly ada: Visitor
}

class OneVisit {
  readonly #options: OneVisitOptions
  readonly #tab: TabOptions
  readonly #model = new CurrentModel()
  #open: Beginning | undefined
  #isSpoilt = false

  constructor(options: OneVisitOptions, tab: TabOptions) {
    this.#options = options
    this.#tab = tab
  }

  /** Starts a test. */
  async begin(model: Model): Promise<Beginning> {
    // A failed test may leave anything behind: a server that is away, a dialog. The next test opens a new visit.
    if (this.#isSpoilt) await this.end()
    onTestFailed(() => void (this.#isSpoilt = true))
    this.#model.current = model
    if (!this.#open) return (this.#open = await this.#arrive())
    await forget(this.#open, this.#tab.viewport ?? USUAL.viewport)
    return this.#open
  }

  async #arrive(): Promise<Beginning> {
    const site = await Site.open({ ...this.#options, model: this.#model })
    return { site, ada: await site.ada(), ...(await site.visit(this.#tab)) }
  }

  async end(): Promise<void> {
    await this.#open?.site[Symbol.asyncDispose]()
    this.#open = undefined
    this.#isSpoilt = false
  }
}

/** Delegates to the model of the current test: a script belongs to one test, the server to all. */
class CurrentModel implements Model {
  name = "scripted"
  provider = "scripted"
  contextTokens = 200_000
  current: Model | undefined

  stream(request: ModelRequest, signal: AbortSignal): ReturnType<Model["stream"]> {
    if (!this.current) throw new Error("No test has begun.")
    return this.current.stream(request, signal)
  }
}

/** Routes of items that a person has and can delete. */
const LISTS = [
  ...["/api/conversations", "/api/connections", "/api/workspace/tasks", "/api/workspace/projects"],
  ...["/api/workspace/notes", "/api/workspace/clients"],
]

async function forget({ page, context, ada, faults }: Beginning, viewport: ViewportSize): Promise<void> {
  await closeOthers(page, context)
  for (const place of [page, context]) await place.unrouteAll({ behavior: "ignoreErrors" })
  // At this size the list of conversations is visible.
  await page.setViewportSize(USUAL.viewport)
  const { isUsual, isSearched } = (await page.evaluate(LEAVE)) as { isUsual: boolean; isSearched: boolean }
  if (!isUsual) await page.emulateMedia({ colorScheme: USUAL.colorScheme, reducedMotion: USUAL.reducedMotion })
  for (const list of LISTS) {
    for (let isMore = true; isMore;) {
      const { items, nextCursor } = (await ada.get(list)).body
      for (const { id } of items) await ada.delete(`${list}/${id}`)
      isMore = Boolean(nextCursor)
    }
  }
  await go(page, "/")
  await page.locator("#composer").waitFor()
  // The list of conversations follows the feed. Once it is empty, no event of the previous test is pending.
  if (isSearched) await page.locator("#search").fill("")
  await page.getByText("Your conversations appear here.").waitFor()
  if (viewport !== USUAL.viewport) await page.setViewportSize(viewport)
  faults.length = 0
}

/**
 * Leaves the page first and drops its drafts: otherwise it would request deleted conversations. One script, which sets
 * only what differs, because each message to the browser takes as long as a short check.
 */
const LEAVE = `new Promise((resolve) => {
  history.pushState(null, "", "/nowhere")
  dispatchEvent(new PopStateEvent("popstate"))
  const leave = () => {
    if (document.querySelector("#main h2")?.textContent !== "Page not found") return setTimeout(leave, 10)
    sessionStorage.clear()
    for (const name of Object.keys(localStorage)) if (name !== "pawl.session") localStorage.removeItem(name)
    for (const toast of document.querySelectorAll("[data-toast] button[aria-label=Dismiss]")) toast.click()
    resolve({
      isUsual: matchMedia("(prefers-color-scheme: ${USUAL.colorScheme}) and (prefers-reduced-motion: ${USUAL.reducedMotion})").matches,
      isSearched: document.querySelector("#search").value !== "",
    })
  }
  leave()
})`

async function closeOthers(page: Page, context: BrowserContext): Promise<void> {
  for (const other of context.pages()) if (other !== page) await other.close()
}
