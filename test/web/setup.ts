import { buildPage } from "../../scripts/build-page.ts"
import { findChromium } from "../../scripts/chromium.ts"

/** Once, before the tests of the page: a page that is built from these sources, and a browser to look at it with. */
export default async function setup(): Promise<void> {
  findChromium()
  await buildPage({ ifStale: true })
}
