import { expect, test } from "vitest"
import { timeLeft } from "./progress.ts"

test.each([
  ["seconds, rounded up", { done: 10, left: 25, ms: 4000 }, ", 10 s left"],
  ["minutes", { done: 100, left: 1000, ms: 12_100 }, ", 3 min left"],
  ["hours", { done: 1, left: 1000, ms: 9000 }, ", 2.5 h left"],
  ["nothing at the beginning", { done: 10, left: 25, ms: 2999 }, ""],
  ["nothing where nothing was done", { done: 0, left: 25, ms: 60_000 }, ""],
  ["nothing at the end", { done: 25, left: 0, ms: 60_000 }, ""],
])("the remaining time is printed as %s", (_, so, told) => expect(timeLeft(so)).toBe(told))
