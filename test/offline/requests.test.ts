import { describe, expect, test } from "vitest"
import { drive } from "./drive.ts"
import { NOT_UNDERSTOOD, type Row } from "./outcome.ts"
import { requests } from "./requests.ts"

const told = (said: Row[0]) => (typeof said === "string" ? said : said.join(" | "))

describe("a request to the workspace's assistant without a language model", () => {
  test.each(requests.map(([said, outcome]) => [told(said), said, outcome] as const))("%s", async (_, said, outcome) => {
    const came = await drive(typeof said === "string" ? [said] : said)
    if ("proposes" in outcome) return expect(came.proposed).toEqual(outcome.proposes)
    expect(came.proposed).toEqual([])
    if ("looks" in outcome) {
      expect(came.looked).toEqual(outcome.looks)
      return expect(came.words).toMatch(outcome.says ?? /./)
    }
    const words = "asks" in outcome ? outcome.asks : outcome.says
    expect(came.words).toMatch(words)
    if ("asks" in outcome) expect(came.words).toContain("?")
  })

  const proposing = requests.flatMap(([said, outcome]) => ("proposes" in outcome ? [[told(said), said] as const] : []))

  test.each(proposing)("approved or rejected, it ends, and nothing is proposed twice: %s", async (_, said) => {
    for (const decision of ["[yes]", "[no]"]) {
      const so = typeof said === "string" ? [said] : [...said]
      const proposed = [...(await drive(so)).proposed]
      for (let turn = 0; turn < 3; turn++) {
        so.push(decision)
        const came = await drive(so)
        for (const each of came.proposed) expect(proposed).not.toContain(each)
        if (came.proposed.length > 0) expect(decision).toBe("[yes]")
        proposed.push(...came.proposed)
        if (came.proposed.length === 0) {
          expect(came.words).toMatch(decision === "[yes]" ? /created|updated|deleted|added/ : /^All right/)
          break
        }
      }
    }
  })
})

test.each(["zzz", "erinnere mich morgen an Milch", "comment buy milk"])(
  "a reply that did not understand offers requests that a click sends: %s",
  async (request) => {
    const { words } = await drive([request])
    expect(words).toMatch(NOT_UNDERSTOOD)
    expect(words).toMatch(/^- `.+`$/m)
  },
)

test("every suggested request is understood when it is sent", async () => {
  let sent = 0
  for (const [said] of requests) {
    const { words } = await drive(typeof said === "string" ? [said] : said)
    // Examples of tools are about rows that may be missing.
    if (/^I (?:did not understand|am the)/.test(words)) continue
    for (const [, request = ""] of words.matchAll(/^- `(.+)`$/gm)) {
      const came = await drive([request])
      expect(came.words, request).not.toMatch(/^I did not understand|^What shall|^That sounds/)
      expect(came.proposed.length + came.looked.length, request).toBeGreaterThan(0)
      sent++
    }
  }
  expect(sent).toBeGreaterThan(10)
})

test("an error of a tool ends it, too", async () => {
  const already = await drive(["reopen the dentist"])
  expect([already.proposed, already.words]).toEqual([[], expect.stringContaining("Nothing would change")])
  expect([already.calls, already.looked.length]).toEqual([3, 1])
  const nowhere = await drive(["move buy milk into the Moon project"])
  expect([nowhere.proposed, nowhere.words]).toEqual([[], expect.stringContaining("There is no project")])
})
