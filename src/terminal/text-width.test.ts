import { createRequire } from "node:module"
import { expect, test } from "vitest"
import { fit, widthOf } from "./text-width.ts"

/** What Ink measures with when it cuts a line. */
const { default: drawn } = createRequire(import.meta.resolve("ink"))("string-width") as {
  default: (text: string) => number
}

test("no character takes more room when it is drawn than was counted for it, alone or after others", () => {
  const tooNarrow: string[] = []
  for (let code = 0xa0; code <= 0x1ffff; code += isMixed(code) ? 1 : 41) {
    if (code >= 0xd800 && code <= 0xdfff) continue
    const character = String.fromCodePoint(code)
    for (const text of [character, `a${character}漢`]) {
      if (widthOf(text) < drawn(text)) tooNarrow.push(`${code.toString(16)} in ${JSON.stringify(text)}`)
    }
  }
  for (const text of ["1\ufe0f\u20e3", "#\ufe0f", "👨‍👩‍👧", "🏴‍☠️", "ｶﾞ", "क्षि"]) {
    if (widthOf(text) < drawn(text)) tooNarrow.push(text)
  }
  expect(tooNarrow).toEqual([])
}, 60_000)

/** Where neighbours differ; elsewhere thousands are alike. */
const isMixed = (code: number): boolean =>
  code < 0x3400 || (code > 0xf8ff && code < 0x10000) || (code >= 0x1d000 && code < 0x1fc00)

test("a text is cut between what people see as characters", () => {
  expect(fit("a漢b", 2)).toEqual({ head: "a", rest: "漢b" })
  expect(widthOf("👍🏽")).toBeGreaterThanOrEqual(2)
})
