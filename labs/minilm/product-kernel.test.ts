import fc from "fast-check"
import { expect, test } from "vitest"
import { createKernels, INNER_WIDTH, MAX_TILE, WIDTH } from "./kernels.ts"
import { KernelMemory } from "./model.ts"
import { Tensor, toByteColumns } from "./weights.ts"

const MULTIPLY = ["at once", "in pairs", "widened"] as const
const COLUMNS = 8
const LENGTHS = { product384: WIDTH, product1536: INNER_WIDTH }
/** An x86_64 without VNNI adds two products in 16 bits, and saturates at this value. */
const INT16_MAX = 32_767

/** Bytes by their place in a row: at the limits, in turns, and mixed. */
const rowsOf = (length: number) =>
  [() => 127, (i: number) => (i % 2) * 127, (i: number) => (i * 37) % 128, (i: number) => (i < 2 ? 127 : 0)].map(
    (byte) => Uint8Array.from({ length }, (_, i) => byte(i)),
  )
const columnsOf = (length: number) =>
  [
    ...[() => 127, () => -127, (i: number) => (i % 2 ? 127 : -127), (i: number) => (i % 4 < 2 ? 127 : -127)],
    ...[(i: number) => ((i * 91) % 255) - 127, (i: number) => -(i % 128), () => 1, (i: number) => (i < 2 ? -127 : 0)],
  ].map((byte) => Int8Array.from({ length }, (_, i) => byte(i)))

const choices = MULTIPLY.flatMap((multiply) => [2, MAX_TILE].map((rows) => ({ multiply, rows })))

test.each(choices)("bytes at their limits are multiplied exactly, with any instructions: %o", (choice) => {
  for (const [name, length] of Object.entries(LENGTHS)) {
    const memory = new KernelMemory()
    const [rows, columns] = [rowsOf(length), columnsOf(length)]
    const put = (parts: readonly (Uint8Array | Int8Array)[]) => memory.put(Int8Array.from(parts.flatMap((p) => [...p])))
    const [bytes, weights] = [put(rows), put(columns)]
    const [ones, noughts] = [new Float32Array(COLUMNS).fill(1), new Float32Array(COLUMNS)]
    const [steps, lows] = [memory.put(ones), memory.put(noughts)]
    const constants = memory.put(Float32Array.of(...ones, ...noughts, ...noughts))
    const into = memory.reserve(rows.length * COLUMNS * 4)
    const kernels = createKernels(memory.memory, choice)
    kernels[name as keyof typeof LENGTHS](bytes, weights, into, steps, lows, constants, rows.length, COLUMNS)
    const exact = rows.flatMap((row) => columns.map((column) => Math.fround(sum(length, (i) => row[i]! * column[i]!))))
    expect([...memory.floats(into, exact.length)], name).toEqual(exact)
  }
})

test("at these limits all processors agree: with signed bytes, or with unsigned ones and saturating sums", () => {
  const cut = (number: number) => Math.max(-INT16_MAX - 1, Math.min(INT16_MAX, number))
  for (const row of rowsOf(WIDTH))
    for (const column of columnsOf(WIDTH)) {
      const signed = Int8Array.from(row)
      const onArm = sum(WIDTH, (i) => signed[i]! * column[i]!)
      const onX86 = sum(WIDTH / 2, (i) => cut(row[2 * i]! * column[2 * i]! + row[2 * i + 1]! * column[2 * i + 1]!))
      expect(onX86).toBe(onArm)
    }
})

test("rows and columns of any numbers become bytes within these limits", () => {
  const memory = new KernelMemory()
  const [from, bytes, step, low] = [WIDTH * 4, WIDTH, 4, 4].map((size) => memory.reserve(size)) as Four
  const { toBytes } = createKernels(memory.memory)
  const finite = fc.float({ noNaN: true, noDefaultInfinity: true })
  const near = fc.tuple(finite, fc.float({ min: 0, max: 1, noNaN: true })).map(([at, by]) => Math.fround(at + by))
  const numbers = fc.oneof(
    ...[finite, near, fc.constantFrom(0, -0, 1e-45, 1e-20, 3.4e38, -3.4e38)].map((each) =>
      fc.array(each, { minLength: 1, maxLength: 8 }),
    ),
  )
  fc.assert(
    fc.property(numbers, (some) => {
      memory.floats(from, WIDTH).set(Float32Array.from({ length: WIDTH }, (_, i) => some[i % some.length]!))
      toBytes(from, bytes, step, low, 1, WIDTH * 4)
      const row = new Uint8Array(memory.memory.buffer, bytes, WIDTH)
      const { bytes: column } = toByteColumns(shortFloats(some), shortFloats([0]))
      const [most, heaviest] = [Math.max(...row), Math.max(...[...column].map(Math.abs))]
      expect(most).toBeLessThanOrEqual(127)
      expect(heaviest).toBeLessThanOrEqual(127)
    }),
  )
})

type Four = [number, number, number, number]

const sum = (count: number, of: (i: number) => number) => {
  let total = 0
  for (let i = 0; i < count; i++) total += of(i)
  return total
}

/** One column of weights, as a file of weights has it. */
const shortFloats = (numbers: readonly number[]) =>
  new Tensor([1, numbers.length], new Uint16Array(Float16Array.from(numbers).buffer))
