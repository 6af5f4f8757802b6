import { type WasmCode, f32x4, i16x8, i32, i32x4, v128 } from "./wasm/instructions.ts"
import { type Kernel, kernel, type Local, repeat } from "./wasm/module.ts"
import { horizontalSums } from "./horizontal-sums.ts"

export interface ProductShape {
  /** How many numbers each product sums up. */
  readonly length: number
  /** Rows per step, by the machine's registers. Does not affect the result. */
  readonly rows: number
  readonly multiply: Multiply
}

/**
 * How sixteen byte products are summed up, with the same result: by one instruction, in pairs that are then added,
 * which is faster where that instruction is emulated, or with 16-bit numbers without relaxed SIMD.
 */
export type Multiply = "at once" | "in pairs" | "widened"

/** Columns per step: the four numbers of a vector. */
const COLUMNS = 4
const BYTES = 16
/** Vectors of each row per round of the innermost loop. */
const UNROLLED = 4

/**
 * Multiplies rows of bytes by columns of bytes, which takes nearly all of the time. With rows `x = low + step · q`, q
 * from 0 to 127, and columns `w = scale · p`, p from -127 to 127, it is `step · (scale · Σqp) + low · (scale · Σp) +
 * bias`.
 *
 * Parameters: rows of bytes, columns of bytes, output, steps and lows of the rows, constants of the columns (scale,
 * scale · Σp and bias, a complete row of each), number of rows, number of columns.
 */
export function productKernel(name: string, { length, rows, multiply }: ProductShape): Kernel {
  return kernel(name, 8, ({ parameters, local, locals }) => {
    const [bytes, weights, into, steps, lows, constants, rowCount, columnCount] = parameters as Eight
    const [row, column, at, a, w, out, step, low] = locals("i32", 8) as Eight
    const [width, end] = locals("i32", 2) as [Local, Local]
    const sums = Array.from({ length: rows }, () => locals("v128", COLUMNS))
    const left = locals("v128", rows)
    const right = local("v128")
    const ones = local("v128")
    const addProducts = adding(multiply, ones)

    const round = Array.from({ length: UNROLLED }, (_, part) => [
      ...left.flatMap((each, r) => each.set(v128.load(a.get, r * length + part * BYTES))),
      ...Array.from({ length: COLUMNS }, (__, c) => [
        ...right.set(v128.load(w.get, c * length + part * BYTES)),
        ...left.flatMap((each, r) => sums[r]![c]!.set(addProducts(sums[r]![c]!.get, right.get, each.get))),
      ]).flat(),
    ]).flat()

    const finish = sums.flatMap((row_, r) => {
      const exact = f32x4.fromInteger(horizontalSums(row_, i32x4.add))
      const scaled = f32x4.mul(f32x4.mul(exact, v128.load(constants.get)), v128.splat32(step.get, r * 4))
      const shift = f32x4.mul(v128.load(i32.add(constants.get, width.get)), v128.splat32(low.get, r * 4))
      const bias = v128.load(i32.add(i32.add(constants.get, width.get), width.get))
      return [...v128.store(out.get, f32x4.add(f32x4.add(scaled, shift), bias)), ...out.step(width.get)]
    })

    const tile = [
      sums.flat().flatMap((sum) => sum.set(f32x4.const(0))),
      w.set(weights.get),
      end.set(i32.add(a.get, i32.const(length))),
      repeat(at, { from: a.get, below: end.get, step: UNROLLED * BYTES }, [
        round,
        a.step(UNROLLED * BYTES),
        w.step(UNROLLED * BYTES),
      ]),
      // The row pointer is at the end of the tile's first row, which is the start of the second.
      a.step((rows - 1) * length),
      finish,
      step.step(rows * 4),
      low.step(rows * 4),
    ]
    return [
      ones.set(i16x8.splat(i32.const(1))),
      width.set(i32.mul(columnCount.get, i32.const(4))),
      repeat(column, { below: columnCount.get, step: COLUMNS }, [
        a.set(bytes.get),
        out.set(into.get),
        step.set(steps.get),
        low.set(lows.get),
        repeat(row, { below: rowCount.get, step: rows }, tile),
        weights.step(COLUMNS * length),
        into.step(COLUMNS * 4),
        constants.step(COLUMNS * 4),
      ]),
    ]
  })
}

type Eight = [Local, Local, Local, Local, Local, Local, Local, Local]

type AddProducts = (sum: WasmCode, weights: WasmCode, bytes: WasmCode) => WasmCode

/** Adds sixteen byte products to four sums. */
function adding(multiply: Multiply, ones: Local): AddProducts {
  switch (multiply) {
    case "at once":
      return (sum, weights, bytes) => i32x4.relaxedDot8(weights, bytes, sum)
    case "in pairs":
      return (sum, weights, bytes) => i32x4.add(sum, i32x4.dot16(i16x8.relaxedDot8(weights, bytes), ones.get))
    case "widened":
      return (sum, weights, bytes) => {
        const low = i32x4.dot16(i16x8.extendLow(weights), i16x8.extendLow(bytes))
        const high = i32x4.dot16(i16x8.extendHigh(weights), i16x8.extendHigh(bytes))
        return i32x4.add(i32x4.add(sum, low), high)
      }
  }
}
