import { expect, test } from "vitest"
import { formatBytes } from "./storage.ts"

test.each([
  [0, "0 bytes"],
  [999, "999 bytes"],
  [1000, "1 kB"],
  [1536, "1.5 kB"],
  [700 * 1024, "700 kB"],
  [1024 ** 2, "1 MB"],
  [1023 * 1024 ** 2, "1 GB"],
  [2048 * 1024 ** 2, "2 GB"],
  [5000 * 1024 ** 4, "5000 TB"],
])("%i bytes are %s", (bytes, words) => {
  expect(formatBytes(bytes)).toBe(words)
})
