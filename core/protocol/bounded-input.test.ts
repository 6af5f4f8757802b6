import { expect, test } from "vitest"
import { z } from "zod"
import { boundedList, boundedRecord } from "../shared/text/bounded-list.ts"
import { ClientFrame } from "./socket.ts"
import type { Route } from "./routes/route.ts"
import { routes } from "./routes/index.ts"

const Row = z.strictObject({ id: z.string(), size: z.number() })

test("a list of valid items is accepted unchanged", () => {
  const rows = [{ id: "a", size: 1 }]
  expect(boundedList(Row, 5).parse(rows)).toEqual(rows)
  expect(boundedList(Row, 5).default([]).parse(undefined)).toEqual([])
})

test("the first few invalid items are named, however many there are", () => {
  const rows = [{ id: "a", size: 1 }, ...Array(200_000).fill({})]
  const { error } = boundedList(Row, 300_000).safeParse(rows)
  expect(error?.issues.map(({ path }) => path.join("."))).toEqual([
    "1.id",
    "1.size",
    "2.id",
    "2.size",
    "3.id",
    "3.size",
  ])
})

test("the items of a list that is too long are not checked", () => {
  let judged = 0
  const counting = z.unknown().refine(() => ++judged > 0)
  const { error } = boundedList(counting, 10).safeParse(Array(11).fill(1))
  expect(error?.issues.map(({ message }) => message)).toEqual(["there are 11, and at most 10 are taken at once"])
  expect(judged).toBe(0)
})

test("a value that is not a list is refused as such", () => {
  expect(boundedList(Row, 5).safeParse({}).error?.issues).toMatchObject([{ code: "invalid_type", expected: "array" }])
})

test("an inner list is bounded by its own count", () => {
  const { error } = boundedList(boundedList(z.number(), 2), 5).safeParse([
    [1, 2],
    [1, 2, 3],
  ])
  expect(error?.issues).toMatchObject([{ path: [1] }])
})

const bodies = Object.entries<Route>(routes).flatMap(([name, { body }]) => (body ? [{ name, body }] : []))

test.each(bodies)("$name has no list that could report a million problems", ({ body }) => {
  expect([...unboundedLists(body)]).toEqual([])
})

test("an unbounded list in a body is found at any depth", () => {
  const hidden = z.strictObject({ deep: z.record(z.string(), z.array(Row).optional()).nullish() })
  expect([...unboundedLists(hidden)]).toEqual([".deep.*", ".deep.*[]"])
})

test("the names of a record are counted before any is checked", () => {
  let judged = 0
  const counting = z.unknown().refine(() => ++judged > 0)
  const record = boundedRecord(z.record(z.string(), counting), 10)
  const { error } = record.safeParse(Object.fromEntries(Array.from({ length: 11 }, (_, at) => [at, 1])))
  expect(error?.issues.map(({ message }) => message)).toEqual(["there are 11 names, and at most 10 are taken at once"])
  expect(judged).toBe(0)
  expect(record.parse({ a: 1 })).toEqual({ a: 1 })
  expect(record.safeParse([]).success).toBe(false)
})

test("no frame of a client has an unbounded list or record", () => {
  expect([...unboundedLists(ClientFrame)]).toEqual([])
})

/**
 * Finds arrays outside a `boundedList` and records outside a `boundedRecord`. A record of unknown values checks none of
 * them; `readJson` bounds its keys.
 */
function* unboundedLists(schema: z.core.$ZodType, path = ""): Generator<string> {
  const { def } = schema._zod as unknown as { def: z.core.$ZodTypes["_zod"]["def"] }
  if (def.type === "array") yield `${path}[]`
  else if (def.type === "pipe" && def.in._zod.def.type === "transform" && def.out._zod.def.type === "array")
    yield* unboundedLists((def.out as z.core.$ZodArray)._zod.def.element, `${path}[]`)
  else if (def.type === "pipe" && def.in._zod.def.type === "transform" && def.out._zod.def.type === "record")
    yield* unboundedLists((def.out as z.core.$ZodRecord)._zod.def.valueType, `${path}.*`)
  else if (def.type === "pipe") {
    yield* unboundedLists(def.in, path)
    yield* unboundedLists(def.out, path)
  } else if (def.type === "object")
    for (const [key, inner] of Object.entries(def.shape)) yield* unboundedLists(inner, `${path}.${key}`)
  else if (def.type === "record") {
    if (def.valueType._zod.def.type !== "unknown") yield `${path}.*`
    yield* unboundedLists(def.valueType, `${path}.*`)
  } else if (def.type === "union") for (const option of def.options) yield* unboundedLists(option, path)
  else if ("innerType" in def) yield* unboundedLists(def.innerType, path)
}
