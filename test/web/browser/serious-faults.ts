import { readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { AxeBuilder } from "@axe-core/playwright"
import type { Page } from "playwright-core"
import { expect, inject } from "vitest"
import { isLong } from "../../support/sizes.ts"

/** The rules of axe about colours: only these can tell dark mode from light mode. */
const RULES_OF_COLOUR = ["color-contrast", "link-in-text-block"]

/** Returns faults that keep a person from using the page, by axe's rules or by these. Minor faults are left out. */
export async function seriousFaults(page: Page, what = "", rules?: readonly string[]): Promise<string[]> {
  // Skip the details of rules that pass.
  const options = {
    resultTypes: ["violations"],
    ...(rules ? { runOnly: { type: "rule", values: rules } } : {}),
  }
  const violations = page.frames().length === 1 ? await ask(page, options) : await askFrames(page, options)
  const serious = violations.filter(({ impact }) => impact === "serious" || impact === "critical")
  return serious.map(({ id, nodes }) => `${what} ${id}: ${nodes.map(({ html }) => html.slice(0, 200)).join(" | ")}`)
}

/** Landmarks that a screen reader cannot distinguish, because they have the same role and name. */
export async function doubledLandmarks(page: Page): Promise<string[]> {
  const violations = await ask(page, {
    resultTypes: ["violations"],
    runOnly: { type: "rule", values: ["landmark-unique"] },
  })
  return violations.flatMap(({ nodes }) => nodes.map(({ html }) => html.slice(0, 200)))
}

/**
 * Checks a page that a test has open anyway, because a check takes as long as the rest of the test: in one test of three,
 * by the seed, in the others at later runs; in the long run in all.
 */
export const seriousFaultsInTurn = async (page: Page): Promise<string[]> =>
  isLong || isTurnOf(expect.getState().currentTestName ?? "") ? seriousFaults(page) : []

const isTurnOf = (test: string) =>
  [...test].reduce((sum, letter) => sum + letter.charCodeAt(0), inject("seed")) % 3 === 0

interface Violation {
  readonly id: string
  readonly impact?: string | null | undefined
  readonly nodes: readonly { readonly html: string }[]
}

const playwrights = createRequire(createRequire(import.meta.url).resolve("@axe-core/playwright"))
const source = readFileSync(playwrights.resolve("axe-core/axe.min.js"), "utf8")

/** Runs axe. It is injected once per document, because injecting it takes twice as long as a run. */
async function ask(page: Page, options: object): Promise<readonly Violation[]> {
  if (!(await page.evaluate("'axe' in window"))) await page.evaluate(source)
  const run = `axe.run(document, ${JSON.stringify(options)}).then(({ violations }) =>
    violations.map(({ id, impact, nodes }) => ({ id, impact, nodes: nodes.map(({ html }) => ({ html })) })))`
  return (await page.evaluate(run)) as readonly Violation[]
}

/** Runs in the current page and its frames: a new page for each check takes seconds. */
async function askFrames(page: Page, options: object): Promise<readonly Violation[]> {
  return (await new AxeBuilder({ page: page as never }).setLegacyMode(true).options(options).analyze()).violations
}

/** Checks one page in light and dark mode. It needs reduced motion. */
export async function seriousFaultsInBothColours(page: Page, what = ""): Promise<string[]> {
  const inLight = await seriousFaults(page, `${what} light`)
  await page.emulateMedia({ colorScheme: "dark" })
  const inDark = await seriousFaults(page, `${what} dark`, RULES_OF_COLOUR)
  await page.emulateMedia({ colorScheme: "light" })
  return [...inLight, ...inDark]
}
