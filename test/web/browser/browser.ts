import type { Browser, BrowserContext, BrowserContextOptions } from "playwright-core"
import { openBrowser } from "../../../scripts/chromium.ts"
import { atEndOfFile } from "../../support/end-of-file.ts"

/**
 * One browser for all files of a worker, because a start takes as long as a short test. It ends with the worker. Each user
 * opens its own context (cookies, storage), which is closed after its file, except those of `tabs.ts`.
 */
let browser: Promise<Browser> | undefined
let measured: Promise<Browser> | undefined
const contexts = new Set<BrowserContext>()
atEndOfFile(async () => {
  await Promise.all([...contexts].map((context) => context.close()))
  contexts.clear()
})

export async function newContext(options: BrowserContextOptions = {}): Promise<BrowserContext> {
  const context = await newLastingContext(options)
  contexts.add(context)
  return context
}

/** Opens a context that is not closed after the test; if `isMeasured`, in a browser as fast as people's. */
export const newLastingContext = async (options: BrowserContextOptions, isMeasured = false): Promise<BrowserContext> =>
  (await (isMeasured ? (measured ??= openBrowser({ isMeasured })) : (browser ??= openBrowser()))).newContext(options)
