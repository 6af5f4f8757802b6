import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { gunzipSync } from "node:zlib"
import type { Frame, Page } from "playwright-core"
import { expect, test } from "vitest"
import { scripted } from "../../../core/models/scripted/model.ts"
import { CANARY, EVIL, hostileCharts, hugeCharts, markupCharts } from "../../analyst/hostile-charts.ts"
import { type Attempted, drawAll, type Named, openFrame } from "../browser/chart-bench.ts"
import { oneVisit } from "../browser/one-visit.ts"
import { oneIn } from "../../support/sizes.ts"

const visit = oneVisit()

const file = join(import.meta.dirname, "..", "..", "..", "..", "shared", "outside", "vega-lite-specs.json.gz")

/** Draws one of this many examples, chosen by the seed; the long run draws all. */
const ONE_OF = 12

/** Speeds up the frame's timers tenfold; otherwise each chart takes 5 s of processor time. */
const hurry = (frame: Frame) =>
  frame.evaluate("window.unhurried = setTimeout, window.setTimeout = (then, ms) => unhurried(then, ms / 10)")
const unhurry = (frame: Frame) => frame.evaluate("window.setTimeout = unhurried")

test("of Vega-Lite's 633 examples those with inline data are drawn, and those with data URLs are refused without a request", async ({
  skip,
}) => {
  if (!existsSync(file))
    skip("passed over: there is no ../shared/outside/vega-lite-specs.json.gz beside this repository")
  const all = Object.entries(JSON.parse(gunzipSync(readFileSync(file)).toString()) as Record<string, object>)
  const [fetching, whole] = [all.filter(([, spec]) => fetches(spec)), all.filter(([, spec]) => !fetches(spec))]
  expect([whole.length, fetching.length]).toEqual([206, 427])
  const { site, page, faults } = await visit.begin(scripted())
  await openFrame(page, site.url)
  const asked: string[] = []
  // The page around the frame polls the list of devices.
  const isOwn = (url: string) => url.startsWith("blob:") || url === `${site.url}/api/devices`
  page.on("request", (request) => !isOwn(request.url()) && asked.push(request.url()))
  const draw = (specs: typeof all) =>
    drawAll(
      page,
      oneIn(ONE_OF, specs).map(([name, spec]) => ({ name, spec })),
    )
  const [drawn, refused] = [await draw(whole), await draw(fetching)]
  expect(drawn.filter(({ type }) => type !== "drawn")).toEqual([])
  expect(refused.filter(({ type, reason }) => type !== "failed" || !/fetches its data/.test(reason ?? ""))).toEqual([])
  expect(drawn.length).toBeGreaterThanOrEqual(Math.floor(whole.length / ONE_OF))
  expect(refused.length).toBeGreaterThanOrEqual(Math.floor(fetching.length / ONE_OF))
  expect(asked).toEqual([])
  expect(faults).toEqual([])
  for (const [what, outcomes] of Object.entries({ drawn, refused })) {
    const times = outcomes.map(({ ms }) => ms)
    const sum = times.reduce((before, ms) => before + ms, 0)
    process.stdout.write(
      `${times.length} charts ${what}: ${Math.round(sum)} ms, the slowest ${Math.round(Math.max(...times))} ms\n`,
    )
  }
})

/** Elements and attributes that our charts never contain. */
const FOREIGN = "img, image, a, iframe, style, foreignObject, [href], [style*=url], [onload], [onerror]"

/** Whether any of its data has a URL. */
function fetches(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false
  return Object.entries(value).some(
    ([key, inside]) => (key === "data" && isObject(inside) && "url" in inside) || fetches(inside),
  )
}

/** The page itself waits for none of them. Three tries: on a busy machine it may once have waited for something else. */
async function stillBlocking(
  page: Page,
  outcomes: readonly Attempted[],
  specs: readonly Named[],
): Promise<Attempted[]> {
  let blocking = outcomes.filter(({ blocked }) => blocked > 1000)
  for (let again = 0; again < 2 && blocking.length > 0; again++) {
    const names = new Set(blocking.map(({ name }) => name))
    const retried = await drawAll(
      page,
      specs.filter(({ name }) => names.has(name)),
      15_000,
    )
    blocking = retried.filter(({ blocked }) => blocked > 1000)
  }
  return blocking
}

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null

test("an unchecked chart specification runs no script, sends no request, and does not block the page", async () => {
  const { site, page, faults } = await visit.begin(scripted())
  const frame = await openFrame(page, site.url)
  await frame.evaluate(`new MutationObserver(() => {
    window.foreign.push(...[...document.querySelectorAll("${FOREIGN}")].map((each) => each.outerHTML))
  }).observe(document.body, { childList: true, subtree: true, attributes: true }, (window.foreign = []))`)
  const asked: string[] = []
  const heard: string[] = []
  // The page around the frame polls the list of devices.
  const isOwn = (url: string) => url.startsWith("blob:") || url === `${site.url}/api/devices`
  page.on("request", (request) => !isOwn(request.url()) && asked.push(request.url()))
  page.on("console", (message) => heard.push(message.text()))
  // The checker, which none of them gets past, is tried with each in every run.
  const specs = [...oneIn(2, hostileCharts), ...markupCharts]
  const outcomes = await drawAll(page, specs)
  expect(outcomes.filter(({ type }) => type === "silent")).toEqual([])
  // Markup is drawn as text: the frame still works, and draws.
  expect(outcomes.filter(({ name }) => name.startsWith("markup")).map(({ type }) => type)).toEqual(
    markupCharts.map(() => "drawn"),
  )
  expect(await stillBlocking(page, outcomes, specs)).toEqual([])
  expect(asked).toEqual([])
  expect(heard.filter((text) => text.includes(CANARY) || text.includes(EVIL))).toEqual([])
  expect(faults.filter((fault) => /^(left|dialog)/.test(fault))).toEqual([])
  // All foreign elements added to the frame's document by any drawing.
  expect(await frame.evaluate("window.foreign")).toEqual([])
})

test("an endless chart is stopped, and the page stays responsive", async () => {
  const { site, page } = await visit.begin(scripted())
  const frame = await openFrame(page, site.url)
  await hurry(frame)
  const outcomes = await drawAll(page, hugeCharts, 60_000)
  for (const { name, type, ms, blocked, reason } of outcomes) {
    process.stdout.write(
      `${name}: ${type} ${reason ?? ""} after ${Math.round(ms)} ms, the page waited ${Math.round(blocked)} ms\n`,
    )
  }
  expect(outcomes.filter(({ type }) => type === "silent")).toEqual([])
  expect(await stillBlocking(page, outcomes, hugeCharts)).toEqual([])
  const stopped = outcomes.filter(({ reason }) => reason === "too_slow").map(({ name }) => name)
  expect(stopped).toContain("a regular expression that never ends")
  await unhurry(frame)
  const [after] = await drawAll(page, [
    { name: "hidden", spec: { ...markupCharts[0]?.spec, title: "invoice\u202Efdp" } },
  ])
  expect(after?.type).toBe("drawn")
  // Invisible characters are written out here, too.
  expect(await frame.evaluate("document.body.innerText")).toContain("invoice⟨U+202E⟩fdp")
})
