import fc from "fast-check"
import { expect, test } from "vitest"
import { SecretFilter, withoutSecrets } from "./tool-end.ts"

const KEY = "sk-1234567890abcdef"
const QUOTED = 'pass"word\\with é'
const secrets = [KEY, QUOTED, "postgres"]

test("a secret is removed from text in every form, and short words stay", () => {
  const text = [KEY, QUOTED, JSON.stringify({ QUOTED }), encodeURIComponent(QUOTED), `x${KEY}${KEY}y`, "postgres"].join(
    "\n",
  )
  const clean = withoutSecrets(text, secrets)
  for (const part of [KEY, "pass", "with"]) expect(clean).not.toContain(part)
  expect(clean).toContain("x[hidden][hidden]y")
  expect(clean).toContain("postgres")
})

test("a secret across chunks is removed, however it is split, and everything else stays", () => {
  const piece = fc.constantFrom(KEY, QUOTED, KEY.slice(0, 7), "sk-", "é", "text ", "\n", "s", 'pass"w')
  const cut = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 60 })
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), cut, (pieces, sizes) => {
      const whole = Buffer.from(pieces.join(""))
      const filter = new SecretFilter(secrets)
      const shown: Buffer[] = []
      for (let at = 0, turn = 0; at < whole.length; turn++) {
        const size = sizes[turn % sizes.length] ?? 1
        shown.push(filter.add(whole.subarray(at, at + size)))
        at += size
      }
      const text = Buffer.concat([...shown, filter.end()]).toString("utf8")
      expect(text).toBe(withoutSecrets(whole.toString("utf8"), secrets))
    }),
  )
})
