import { expect, test } from "vitest"
import { spread } from "../support/spread.ts"

const file = (name: string) => ({ moduleId: `/any/${name}.test.ts` })
const some = (many: number, name: string) => Array.from({ length: many }, (_, at) => file(`${at}-${name}`))
const [waiting, working] = [some(10, "of-chance.slow"), some(90, "of-words")]
const isWaiting = ({ moduleId }: { moduleId: string }) => moduleId.includes(".slow.")

test("each file is there once, and each kind in the order that it had", () => {
  const spreadOut = spread([...waiting, ...working])
  expect(spreadOut).toHaveLength(100)
  expect(spreadOut.filter(isWaiting)).toEqual(waiting)
  expect(spreadOut.filter((each) => !isWaiting(each))).toEqual(working)
})

test("what waits is never next to its like, and not among the last, so that nobody waits for it in the end", () => {
  const places = spread([...waiting, ...working]).flatMap((each, at) => (isWaiting(each) ? [at] : []))
  expect(places).toEqual([0, 7, 14, 21, 28, 35, 42, 49, 56, 63])
})

test.each([
  ["only files that wait", waiting],
  ["only files that work", working],
  ["more that wait than have a place among the first", [...waiting, ...working.slice(0, 2)]],
  ["none", []],
])("%s: all of them run", (_, files) => {
  expect(new Set(spread(files))).toEqual(new Set(files))
  expect(spread(files)).toHaveLength(files.length)
})
