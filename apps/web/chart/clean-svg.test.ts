import { expect, test } from "vitest"
import { isClean } from "./clean-svg.ts"

test.each<[name: string, value: string, clean: boolean]>([
  ["fill", "red", true],
  ["fill", "url(#gradient-1)", true],
  ["fill", "url(https://example.com/x)", false],
  ["fill", String.raw`u\72l(https://example.com/x)`, false],
  ["clip-path", String.raw`\75rl(//example.com)`, false],
  ["aria-label", String.raw`C:\shop`, true],
  ["onload", "x()", false],
])("an attribute of a picture leads nowhere: %s=%s", (name, value, clean) => {
  expect(isClean(name, value)).toBe(clean)
})
