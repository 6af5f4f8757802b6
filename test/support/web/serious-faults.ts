import { AxeBuilder } from "@axe-core/playwright"
import type { Page } from "playwright-core"

/** What would keep somebody from using the page, by every rule of axe; what is merely odd is not counted. */
export async function seriousFaults(page: Page, what = ""): Promise<string[]> {
  // In this very page: a new one for each look takes seconds. Of what is well nothing has to be told.
  const axe = new AxeBuilder({ page: page as never }).setLegacyMode(true).options({ resultTypes: ["violations"] })
  const { violations } = await axe.analyze()
  const serious = violations.filter(({ impact }) => impact === "serious" || impact === "critical")
  return serious.map(({ id, nodes }) => `${what} ${id}: ${nodes.map(({ html }) => html.slice(0, 200)).join(" | ")}`)
}
