import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import type { BrowserContext, BrowserContextOptions, CDPSession, Page } from "playwright-core"
import { newLastingContext } from "./browser.ts"

/**
 * Pools tabs. A new context with a new tab costs a process and a page that is fetched, compiled and run cold: two seconds
 * of a core. A returned tab has lost all page state: cookies and permissions at once, storage on its next visit, and it
 * shows a blank page. Compiled code stays, as it does for a person.
 */
const idle = new Map<string, Tab[]>()

/** Reduced motion, because clicks wait for animations to end. An unused tab animates, as most people's browsers do. */
export const USUAL = { viewport: { width: 1280, height: 800 }, colorScheme: "light", reducedMotion: "reduce" } as const

/** Page events that tests subscribe to. */
const HEARD = ["console", "dialog", "download", "pageerror", "request", "requestfailed", "requestfinished", "response"]

/** An empty page of this machine. For `about:blank` Chromium ends the process of a page, and what that has compiled. */
let blank: Promise<string> | undefined
async function openBlank(): Promise<string> {
  const server = createServer((_, response) => response.setHeader("content-type", "text/html").end()).listen(
    0,
    "127.0.0.1",
  )
  await once(server.unref(), "listening")
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
}

export interface TabOptions extends BrowserContextOptions {
  /** A browser with an empty cache that is not reused: for tests that install clocks, or inspect what loads. */
  readonly unused?: boolean
  /** For measurements: unused, and in a browser that compiles as people's do. */
  readonly isMeasured?: boolean
}

export class Tab {
  readonly page: Page
  readonly context: BrowserContext
  readonly #session: CDPSession
  readonly #key: string

  private constructor(page: Page, session: CDPSession, key: string) {
    this.page = page
    this.context = page.context()
    this.#session = session
    this.#key = key
  }

  /** Takes a tab with these options. It is used by one test at a time, until it is given back. */
  static async take({ isMeasured = false, unused = isMeasured, ...options }: TabOptions): Promise<Tab> {
    const { viewport = USUAL.viewport, colorScheme, reducedMotion, ...others } = options
    const key = unused ? "" : JSON.stringify(others)
    const kept = idle.get(key)?.pop()
    const motion = unused ? { reducedMotion: "no-preference" as const } : {}
    const tab = kept ?? (await Tab.#open(await newLastingContext({ ...USUAL, ...motion, ...options }, isMeasured), key))
    if (kept && viewport) await kept.page.setViewportSize(viewport)
    if (kept) {
      await kept.page.emulateMedia({
        colorScheme: colorScheme ?? USUAL.colorScheme,
        reducedMotion: reducedMotion ?? USUAL.reducedMotion,
      })
    }
    return tab
  }

  static async #open(context: BrowserContext, key: string): Promise<Tab> {
    const page = await context.newPage()
    const session = await context.newCDPSession(page)
    await session.send("Page.enable")
    return new Tab(page, session, key)
  }

  /** Goes to an address of this origin, whose storage then holds only `localStorage`. */
  async goTo(url: string, localStorage: Readonly<Record<string, string>>): Promise<void> {
    const source = `if (location.origin === ${JSON.stringify(new URL(url).origin)}) {
      window.localStorage.clear()
      window.sessionStorage.clear()
      for (const [name, value] of Object.entries(${JSON.stringify(localStorage)})) window.localStorage.setItem(name, value)
    }`
    // Only for this document: later ones find what the page itself has stored.
    const { identifier } = await this.#session.send("Page.addScriptToEvaluateOnNewDocument", { source })
    await this.page.goto(url)
    await this.#session.send("Page.removeScriptToEvaluateOnNewDocument", { identifier })
  }

  async giveBack(): Promise<void> {
    if (this.#key === "" || !(await this.#isAsNew())) return this.context.close()
    idle.set(this.#key, [...(idle.get(this.#key) ?? []), this])
  }

  async #isAsNew(): Promise<boolean> {
    const { page, context } = this
    try {
      for (const other of context.pages()) if (other !== page) await other.close()
      for (const type of HEARD) page.removeAllListeners(type)
      await page.unrouteAll({ behavior: "ignoreErrors" })
      await context.unrouteAll({ behavior: "ignoreErrors" })
      await page.goto(await (blank ??= openBlank()), { timeout: 5000 })
      await context.clearCookies()
      await context.clearPermissions()
      return true
    } catch {
      // The test has closed the tab, or a script blocks it. The next test gets another one.
      return false
    }
  }
}
