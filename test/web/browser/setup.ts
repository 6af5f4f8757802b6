import type { TestProject } from "vitest/node"
import { buildPage } from "../../../scripts/build-page.ts"
import { findChromium } from "../../../scripts/chromium.ts"

declare module "vitest" {
  interface ProvidedContext {
    /** The reason why no browser is available; empty if there is one. */
    noBrowser: string
  }
}

/** Runs once before the page tests: builds the page from these sources, and finds a browser. */
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
