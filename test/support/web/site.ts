import { join } from "node:path"
import type { BrowserContext, BrowserContextOptions, Page } from "playwright-core"
import { listen, type Listening } from "../../../src/server/listen.ts"
import { readPageFiles } from "../../../src/server/routes/pages/page-files.ts"
import { Browser as Signed } from "../server/browser.ts"
import { newContext } from "./browser.ts"
import { databases } from "../databases.ts"
import { Face, type FaceOptions, type Visitor } from "../server/face.ts"

const built = join(import.meta.dirname, "..", "..", "..", "dist", "web")

export interface Visit {
  readonly page: Page
  readonly context: BrowserContext
  /** What went wrong in the browser: errors of scripts, of the console, and requests that would have left. */
  readonly faults: string[]
}

/** The real server on a port, with its page, and a real browser. */
export class Site implements AsyncDisposable {
  readonly face: Face
  readonly url: string
  #listening: Listening
  readonly #visits: BrowserContext[] = []

  private constructor(face: Face, listening: Listening) {
    this.face = face
    this.url = listening.url
    this.#listening = listening
  }

  static async open(options: Omit<FaceOptions, "url"> & { readonly url?: string }): Promise<Site> {
    const page = await readPageFiles(built)
    if (!page) throw new Error("The page is not built: npm run page.")
    const [database] = databases
    const url = options.url ?? (await database!.create()).url
    const face = await Face.open({ ...options, url, instead: { ...options.instead, page } })
    const listening = await listen((request, env) => face.fetch(request, env), { host: "127.0.0.1", port: 0 })
    return new Site(face, listening)
  }

  /** The server is away: nobody answers on its port, and what was connected is cut off. */
  leave = (): Promise<void> => this.#listening.close(0)

  /** It is back, on the same port. */
  async comeBack(): Promise<void> {
    this.#listening = await listen((request, env) => this.face.fetch(request, env), {
      host: "127.0.0.1",
      port: Number(new URL(this.url).port),
    })
  }

  /** A visitor with a token, for what a test does behind the page's back. */
  ada = (): Promise<Visitor> => this.face.as("ada")

  /** A browser of its own (cookies, storage) that has signed in as ada. */
  async visit(options: BrowserContextOptions = {}, path = "/"): Promise<Visit> {
    // How somebody comes in by the page itself is the first run's to show.
    const { cookie = "", pageSecret = "" } = await Signed.of(this.face, "ada")
    const [name = "", value = ""] = cookie.split("=")
    const { origin, port } = new URL(this.url)
    const storageState = {
      cookies: [],
      origins: [{ origin, localStorage: [{ name: "pawl.session", value: pageSecret }] }],
    }
    const context = await newContext({ viewport: { width: 1280, height: 800 }, storageState, ...options })
    this.#visits.push(context)
    await context.addCookies([{ name: `${name}_${port}`, value, url: this.url }])
    const visit = { ...(await this.look(context)), context }
    await visit.page.goto(this.url + path)
    await visit.page.locator("#main").waitFor()
    if (path === "/") await visit.page.locator("#composer").waitFor()
    return visit
  }

  /** One more tab; everything that is wrong in it is written down. */
  async look(context: BrowserContext): Promise<{ page: Page; faults: string[] }> {
    const faults: string[] = []
    const page = await context.newPage()
    // A machine that does other things takes its time; what never comes is told all the same.
    page.setDefaultTimeout(30_000)
    page.on("console", (message) => {
      if (message.type() === "error" || message.type() === "warning") faults.push(`console: ${message.text()}`)
    })
    page.on("pageerror", (error) => faults.push(`error: ${error.message}`))
    page.on("dialog", (dialog) => {
      faults.push(`dialog: ${dialog.message()}`)
      void dialog.dismiss()
    })
    await page.route(
      (url) => url.origin !== this.url,
      (route) => {
        faults.push(`left: ${route.request().url()}`)
        return route.abort()
      },
    )
    return { page, faults }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#visits.map((context) => context.close()))
    await this.#listening.close(0)
    await this.face[Symbol.asyncDispose]()
  }
}
