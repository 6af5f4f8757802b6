import { expect, test } from "vitest"
import { z } from "zod"
import { lazily } from "./lazily.ts"

const Item = lazily(() =>
  z.object({ name: z.string().min(1).describe("What it is called"), count: z.int().default(1) }),
)

interface Tree {
  readonly name: string
  readonly parts?: readonly Tree[] | undefined
}
const Tree: z.ZodType<Tree> = lazily(() => z.object({ name: z.string(), parts: z.array(Tree).optional() }))

const kinds: Readonly<Record<string, () => z.ZodType>> = {
  object: () => z.strictObject({ item: Item, note: z.string().nullish() }),
  extended: () => Item.extend({ more: z.array(Item).max(2) }).partial(),
  text: () => z.string().trim().min(2).max(5),
  described: () => z.string().max(5).describe("A short word"),
  choice: () => z.enum(["yes", "no"]),
  union: () => z.union([Item, z.number()]),
  "told apart": () =>
    z.discriminatedUnion("type", [
      lazily(() => z.object({ type: z.literal("one"), item: Item })),
      lazily(() => Item.extend({ type: z.literal("two") })),
    ]),
  record: () => z.record(z.string().max(3), Item),
  changed: () => z.preprocess((value) => (typeof value === "string" ? [value] : value), z.array(z.string()).min(1)),
  refined: () => z.object({ a: z.number(), b: z.number() }).refine(({ a, b }) => a < b, { message: "a comes first" }),
  custom: () => z.custom<string>((value) => value === "yes", "say yes"),
  "with a fallback": () => z.number().catch(7),
  "part of another": () => Item.shape.name,
  "in a circle": () => z.object({ tree: Tree }),
}

const given = [
  ...[undefined, null, "", "yes", " word ", "a long word", 3, [], ["x"], {}],
  ...[{ name: "x" }, { name: "" }, { item: { name: "x", count: 0.5 } }, { item: { name: "x" }, other: 1 }],
  ...[
    { type: "one", item: { name: "x" } },
    { type: "two", name: "x" },
    { type: "three" },
    { a: 2, b: 1 },
    { a: 1, b: 2 },
  ],
  ...[{ long: { name: "x" } }, { tree: { name: "x", parts: [{ name: "y", parts: [{}] }] } }],
]

test.each(Object.entries(kinds))("%s: reads, refuses and is described as what it stands for", (_, how) => {
  const [lazy, real] = [lazily(how), how()]
  for (const value of given) {
    const [ours, theirs] = [lazy.safeParse(value), real.safeParse(value)]
    expect([ours.data, ours.error?.issues]).toEqual([theirs.data, theirs.error?.issues])
  }
  const printed = (schema: z.ZodType) => z.toJSONSchema(schema, { io: "input", unrepresentable: "any" })
  expect(printed(lazy)).toEqual(printed(real))
  // As part of another, which is how most of them are used.
  expect(printed(z.object({ inside: lazily(how).optional() }))).toEqual(printed(z.object({ inside: how().optional() })))
  expect([lazy.description, lazy.type]).toEqual([real.description, real.type])
  expect(lazy).toBeInstanceOf(real._zod.constr)
})

test("it is made by the first question, and once", () => {
  let made = 0
  const schema = lazily(() => (made++, z.object({ name: z.string() })))
  const around = lazily(() => z.array(schema))
  expect(made).toBe(0)
  expect("parse" in schema).toBe(true)
  expect(made).toBe(1)
  const { parse } = schema
  expect([parse({ name: "x" }), around.parse([{ name: "y" }])]).toEqual([{ name: "x" }, [{ name: "y" }]])
  expect(made).toBe(1)
})

test("one that cannot be made says so to each who asks", () => {
  const schema = lazily((): z.ZodType => {
    throw new Error("no such thing")
  })
  for (const _ of [1, 2]) expect(() => schema.parse(1)).toThrow("no such thing")
})
