import type { TestProject } from "vitest/node"
import { buildPage } from "../../../scripts/build-page.ts"
import { findChromium } from "../../../scripts/chromium.ts"

declare module "vitest" {
  interface ProvidedContext {
    /** Why there is no browser to look at the page with; empty where there is one. */
    noBrowser: string
  }
}

/** Once, before the tests of the page: a page that is built from these sources, and a browser to look at it with. */
export default async function setup(project: TestProject): Promise<void> {
  const noBrowser = problemOf(findChromium)
  project.provide("noBrowser", noBrowser)
  if (noBrowser) process.stderr.write(`${noBrowser}\nThe tests of the page are left out.\n`)
  else await buildPage({ ifStale: true })
}

function problemOf(find: () => unknown): string {
  try {
    find()
    return ""
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}
