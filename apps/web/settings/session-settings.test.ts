import { beforeAll, expect, test } from "vitest"
import { loadRest } from "../strings/language.ts"
import { browserName } from "./session-settings.tsx"

beforeAll(loadRest)

const WEBKIT = "AppleWebKit/537.36 (KHTML, like Gecko)"
const CHROME = `${WEBKIT} Chrome/131.0.0.0`

test.each([
  [`Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${CHROME} Safari/537.36 Edg/131.0.0.0`, "Edge on Windows"],
  [`Mozilla/5.0 (X11; Linux x86_64) ${CHROME} Safari/537.36 OPR/116.0.0.0`, "Opera on Linux"],
  ["Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:133.0) Gecko/20100101 Firefox/133.0", "Firefox on Windows"],
  [`Mozilla/5.0 (Linux; Android 10; K) ${CHROME} Mobile Safari/537.36`, "Chrome on Android"],
  [`Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) ${CHROME} Safari/537.36`, "Chrome on ChromeOS"],
  [
    `Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) ${WEBKIT} CriOS/131.0 Mobile/15E148 Safari/604.1`,
    "Chrome on iOS",
  ],
  [`Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) ${WEBKIT} Version/18.1 Safari/605.1.15`, "Safari on macOS"],
  ["Firefox/133.0", "Firefox"],
  ["curl/8.5.0", "curl/8.5.0"],
])("%s is shown as %s", (userAgent, name) => {
  expect(browserName(userAgent)).toBe(name)
})
