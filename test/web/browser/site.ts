import { join } from "node:path"
import type { BrowserContext, Page } from "playwright-core"
import { listen, type Listening } from "../../../core/server/listen.ts"
import { type PageFiles, openPageFiles } from "../../../core/server/routes/page.ts"
import { Browser as Signed } from "../../support/server/browser.ts"
import { databases } from "../../support/databases.ts"
import { Face, type FaceOptions, type Visitor } from "../../support/server/face.ts"
import { Tab, type TabOptions } from "./tabs.ts"

const built = join(import.meta.dirname, "..", "..", "..", "dist", "web")
let files: PageFiles | undefined

/** The port of this worker's last site, reused because the browser caches compiled scripts by address. */
let lastPort = 0

async function listenFor(face: Face): Promise<Listening> {
  const at = (port: number) => listen((request, env) => face.fetch(request, env), { host: "127.0.0.1", port })
  // Another process or another site of the same test may use the port now.
  const listening = await at(lastPort).catch(() => at(0))
  lastPort = Number(new URL(listening.url).port)
  return listening
}

export interface Visit {
  readonly page: Page
  readonly context: BrowserContext
  /** Errors in the browser: script errors, console errors, and requests to other origins. */
  readonly faults: string[]
}

/** The real server on a port, with its page, and a real browser. */
export class Site implements AsyncDisposable {
  readonly face: Face
  readonly url: string
  #listening: Listening
  readonly #tabs: Tab[] = []

  private constructor(face: Face, listening: Listening) {
    this.face = face
    this.url = listening.url
    this.#listening = listening
  }

  static async open(options: Omit<FaceOptions, "url"> & { readonly url?: string }): Promise<Site> {
    const page = (files ??= openPageFiles(built))
    if (!page) throw new Error("The page is not built: npm run page.")
    const [database] = databases
    const url = options.url ?? (await database!.create()).url
    const face = await Face.open({ ...options, url, instead: { ...options.instead, page } })
    return new Site(face, await listenFor(face))
  }

  /** Closes the server: it stops listening and cuts its connections. */
  leave = (): Promise<void> => this.#listening.close(0)

  /** Restarts the server on the same port. */
  async comeBack(): Promise<void> {
    this.#listening = await listen((request, env) => this.face.fetch(request, env), {
      host: "127.0.0.1",
      port: Number(new URL(this.url).port),
    })
  }

  /** Returns an API client with a token, for changes outside the page. */
  ada = (): Promise<Visitor> => this.face.as("ada")

  /** Opens a separate browser context (cookies, storage), signed in as ada. */
  async visit(options: TabOptions = {}, path = "/"): Promise<Visit> {
    // Signing in through the page is covered by first-run.test.ts.
    const { cookie = "", pageSecret = "" } = await Signed.of(this.face, "ada")
    const [name = "", value = ""] = cookie.split("=")
    const tab = await Tab.take(options)
    this.#tabs.push(tab)
    const { page, context } = tab
    await context.addCookies([{ name: `${name}_${new URL(this.url).port}`, value, url: this.url }])
    const faults = this.#listenTo(page)
    await tab.goTo(this.url + path, { "pawl.session": pageSecret })
    await page.locator("#main").waitFor()
    if (path === "/") await page.locator("#composer").waitFor()
    return { page, context, faults }
  }

  /** Opens another tab, and records every fault in it. */
  async look(context: BrowserContext): Promise<{ page: Page; faults: string[] }> {
    const page = await context.newPage()
    return { page, faults: this.#listenTo(page) }
  }

  #listenTo(page: Page): string[] {
    const faults: string[] = []
    // A busy machine is slow; a missing element still fails the test.
    page.setDefaultTimeout(60_000)
    page.on("console", (message) => {
      if (message.type() === "error" || message.type() === "warning")
        faults.push(`console: ${message.text()} ${message.location().url}`)
    })
    page.on("pageerror", (error) => faults.push(`error: ${error.message}`))
    page.on("dialog", (dialog) => {
      faults.push(`dialog: ${dialog.message()}`)
      void dialog.dismiss()
    })
    // The request finds no address (`openBrowser`). A route would delay all requests, and disable the cache.
    page.on("request", (request) => {
      const { origin, protocol } = new URL(request.url())
      if (origin !== this.url && protocol !== "blob:") faults.push(`left: ${request.url()}`)
    })
    // A request that the page's own policy blocks has not left the browser.
    page.on("requestfailed", (request) => {
      const at = request.failure()?.errorText === "csp" ? faults.indexOf(`left: ${request.url()}`) : -1
      if (at !== -1) faults.splice(at, 1)
    })
    return faults
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#tabs.map((tab) => tab.giveBack()))
    await this.#listening.close(0)
    await this.face[Symbol.asyncDispose]()
  }
}
