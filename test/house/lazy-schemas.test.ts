import { execFile } from "node:child_process"
import { dirname } from "node:path"
import { promisify } from "node:util"
import { expect, test } from "vitest"
import * as eager from "zod"
import * as lazy from "../../scripts/lazy-zod.ts"
import { lifeNamed } from "../support/processes/package.ts"

type Zod = typeof eager.z

/** The same schemas, with the zod of the sources and the one of the built programs. */
function schemas(z: Zod) {
  const Item = z.object({ name: z.string().min(1).describe("What it is called"), count: z.int().default(1) })
  const Tree = z.object({
    name: z.string(),
    get parts() {
      return z.array(Tree).optional()
    },
  })
  return {
    object: z.strictObject({ item: Item, note: z.string().nullish() }),
    extended: Item.extend({ more: z.array(Item).max(2) }).partial(),
    picked: Item.pick({ name: true }).strict(),
    text: z.string().trim().min(2).max(5),
    pattern: z.string().regex(/^w/),
    described: z.string().max(5).describe("A short word"),
    choice: z.enum(["yes", "no"]),
    union: z.union([Item, z.number()]),
    "discriminated union": z.discriminatedUnion("type", [
      z.object({ type: z.literal("one"), item: Item }),
      Item.extend({ type: z.literal("two") }),
    ]),
    record: z.record(z.string().max(3), Item),
    "partial record": z.partialRecord(z.enum(["a", "b"]), z.number()),
    preprocess: z.preprocess((value) => (typeof value === "string" ? [value] : value), z.array(z.string()).min(1)),
    refined: z.object({ a: z.number(), b: z.number() }).refine(({ a, b }) => a < b, { message: "a comes first" }),
    transformed: z.string().transform((text) => text.length),
    custom: z.custom<string>((value) => value === "yes", "say yes"),
    "with a fallback": z.number().catch(7),
    "a field of another": Item.shape.name,
    recursive: z.object({ tree: Tree }),
    others: z.looseObject({ a: z.unknown(), b: z.boolean().optional(), c: z.null().optional(), d: z.url().optional() }),
  }
}

const values = [
  ...[undefined, null, "", "yes", " word ", "a long word", 3, [], ["x"], {}],
  ...[{ name: "x" }, { name: "" }, { item: { name: "x", count: 0.5 } }, { item: { name: "x" }, other: 1 }],
  ...[{ type: "one", item: { name: "x" } }, { type: "two", name: "x" }, { type: "three" }],
  ...[{ a: 2, b: 1 }, { a: 1, b: 2 }, { long: { name: "x" } }, { b: true, c: 1, d: "x" }],
  { tree: { name: "x", parts: [{ name: "y", parts: [{}] }] } },
]

const expected = schemas(eager.z)
const actual = schemas(lazy as unknown as Zod)

test.each(Object.keys(expected) as (keyof typeof expected)[])(
  "the zod of the built programs reads, refuses and describes like zod itself: %s",
  (name) => {
    const [ours, theirs]: readonly eager.ZodType[] = [actual[name], expected[name]]
    if (!ours || !theirs) throw new Error("no schema")
    for (const value of values) {
      const [mine, real] = [ours.safeParse(value), theirs.safeParse(value)]
      expect([mine.data, mine.error?.issues]).toEqual([real.data, real.error?.issues])
    }
    const printed = (schema: eager.ZodType) => eager.toJSONSchema(schema, { io: "input", unrepresentable: "any" })
    expect(printed(ours)).toEqual(printed(theirs))
    expect(printed(eager.object({ inside: ours }))).toEqual(printed(eager.object({ inside: theirs })))
    expect([ours.description, ours.type]).toEqual([theirs.description, theirs.type])
    expect(ours).toBeInstanceOf(theirs._zod.constr)
  },
)

test("a schema is created once, by its first use", () => {
  let created = 0
  const schema = lazy.object({
    get name() {
      created++
      return lazy.string()
    },
  })
  const derived = lazy.array(schema.optional())
  expect(created).toBe(0)
  const { parse } = derived
  expect(parse([{ name: "x" }, undefined])).toEqual([{ name: "x" }, undefined])
  expect(schema.parse({ name: "y" })).toEqual({ name: "y" })
  expect(created).toBeGreaterThan(0)
})

test("a schema that cannot be created throws at each use", () => {
  const schema = lazy.object({ a: lazy.string() }).extend(undefined as never)
  for (const _ of [1, 2]) expect(() => schema.parse(1)).toThrow("plain object")
})

/** Counts the schemas that zod creates: it reports each to a `postProcessor`. */
const counting = `
  let created = 0
  globalThis.__zod_globalConfig = { postProcessor: () => created++ }
  const { NewMessage } = await import(process.argv[1] + "/protocol.js")
  await import(process.argv[1] + "/server.js")
  const atLoad = created
  NewMessage.parse({ text: "x" })
  process.stdout.write(JSON.stringify({ atLoad, used: created - atLoad }))
`

test("loading the built server creates few of its thousands of schemas", async () => {
  const words = ["--input-type=module", "-e", counting, dirname(lifeNamed("any"))]
  const { stdout } = await promisify(execFile)(process.execPath, words)
  const { atLoad, used } = JSON.parse(stdout) as { atLoad: number; used: number }
  expect(used).toBeGreaterThan(10) // or this test would show nothing
  expect(atLoad).toBeLessThan(600)
})
