import { expect, test } from "vitest"
import type { Row } from "./known-tables.ts"
import type { Layout } from "./layout.ts"
import { requireReferences } from "./require-references.ts"
import { runSteps } from "./steps.ts"

const layout: Layout = { table: (name) => name, column: (name) => name, tie: "id" }
const client = (n: number, parentId: string | null): Row => ({
  id: `c${n}`,
  parentId,
  name: "",
  industry: null,
  createdAt: n,
})
const LONG = 200

test("the parents of many rows are read once each, among existing and new rows", () => {
  const there = new Map(Array.from({ length: LONG }, (_, n) => [`c${n}`, client(n, n === 0 ? null : `c${n - 1}`)]))
  let asked = 0
  const answer = ({ values }: { readonly values: readonly unknown[] }) => {
    asked++
    return [...there.values()].filter(({ id }) => values.includes(id))
  }
  // Each of them is a part of the one before, and the first of what is there.
  const coming = Array.from({ length: LONG }, (_, n) => client(LONG + n, `c${LONG + n - 1}`))
  const siblings = Array.from({ length: LONG }, (_, n) => client(3 * LONG + n, `c${LONG - 1}`))
  runSteps(requireReferences(layout, { clients: [...coming.toReversed(), ...siblings] }), answer)
  expect(asked).toBeLessThan(2 * LONG)
})

test("a circle is found, wherever one begins to go up", () => {
  const circle = [client(1, "c2"), client(2, "c3"), client(3, "c1")]
  const into = [client(4, "c1"), ...circle]
  for (const clients of [circle, into, into.toReversed(), [client(5, "c5")]])
    expect(() => runSteps(requireReferences(layout, { clients }), () => [])).toThrow("cannot be a part of itself")
})
