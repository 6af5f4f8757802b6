import { type WasmCode, f32, f32x4, i16x8, i32, i32x4, i8x16, type MultiplyAdd, v128 } from "./wasm/instructions.ts"
import { type Kernel, kernel, type Local, repeat } from "./wasm/module.ts"
import { exponential, gelu } from "./functions.ts"

const FLOATS = 16
/** The largest byte of a row: seven bits, because only then the byte product is the same on every machine. */
const MAX_BYTE = 127

/**
 * Converts rows of floats to bytes. Parameters: rows, output for bytes, steps and lows, number of rows, length in
 * bytes.
 */
export const toBytesKernel = (): Kernel =>
  kernel("toBytes", 6, ({ parameters, local, locals, constant }) => {
    const [from, bytes, steps, lows, count, length] = parameters as Six
    const [row, at, end] = locals("i32", 3) as Three
    const [least, most, x] = locals("v128", 3) as Three
    const [low, range, perStep] = locals("f32", 3) as Three
    const scale = local("v128")
    const whole = (part: number) => {
      const above = f32x4.sub(v128.load(at.get, part * FLOATS), f32x4.splat(low.get))
      return i32x4.fromFloat(f32x4.add(f32x4.mul(above, scale.get), constant(0.5)))
    }
    return [
      repeat(row, { below: count.get }, [
        end.set(i32.add(from.get, length.get)),
        least.set(v128.load(from.get)),
        most.set(least.get),
        repeat(at, { from: from.get, below: end.get, step: FLOATS }, [
          x.set(v128.load(at.get)),
          least.set(f32x4.min(least.get, x.get)),
          most.set(f32x4.max(most.get, x.get)),
        ]),
        low.set(ofLanes(f32.min, least.get)),
        range.set(f32.sub(ofLanes(f32.max, most.get), low.get)),
        f32.store(lows.get, low.get),
        f32.store(steps.get, f32.div(range.get, f32.const(MAX_BYTE))),
        // In a row of equal numbers every byte is 0; this avoids a division by 0.
        perStep.set(f32.div(f32.const(MAX_BYTE), f32.max(range.get, f32.const(1e-20)))),
        scale.set(f32x4.splat(perStep.get)),
        repeat(at, { from: from.get, below: end.get, step: 4 * FLOATS }, [
          v128.store(
            bytes.get,
            i8x16.narrowUnsigned(i16x8.narrow(whole(0), whole(1)), i16x8.narrow(whole(2), whole(3))),
          ),
          bytes.step(FLOATS),
        ]),
        from.set(end.get),
        lows.step(4),
        steps.step(4),
      ]),
    ]
  })

/**
 * Adds two rows and normalizes each sum to mean 0 and deviation 1, then applies a scale and a shift per number.
 * Parameters: rows, which are overwritten, rows to add, scales followed by shifts, number of rows, length in bytes.
 */
export const normaliseKernel = (): Kernel =>
  kernel("normalise", 5, ({ parameters, locals }) => {
    const [rows, added, constants, count, length] = parameters as Five
    const [row, at, end, constant] = locals("i32", 4) as [Local, Local, Local, Local]
    const [sum, squares, x, mean, factor] = locals("v128", 5) as Five
    const [numbers, deviation] = locals("f32", 2) as [Local, Local]
    const over = (body: WasmCode[]) => repeat(at, { from: rows.get, below: end.get, step: FLOATS }, body)
    return [
      numbers.set(f32.div(f32.fromInteger(length.get), f32.const(4))),
      repeat(row, { below: count.get }, [
        end.set(i32.add(rows.get, length.get)),
        sum.set(f32x4.const(0)),
        squares.set(f32x4.const(0)),
        over([
          x.set(f32x4.add(v128.load(at.get), v128.load(added.get))),
          v128.store(at.get, x.get),
          sum.set(f32x4.add(sum.get, x.get)),
          added.step(FLOATS),
        ]),
        mean.set(f32x4.splat(f32.div(ofLanes(f32.add, sum.get), numbers.get))),
        over([
          x.set(f32x4.sub(v128.load(at.get), mean.get)),
          squares.set(f32x4.add(squares.get, f32x4.mul(x.get, x.get))),
        ]),
        deviation.set(f32.sqrt(f32.add(f32.div(ofLanes(f32.add, squares.get), numbers.get), f32.const(1e-12)))),
        factor.set(f32x4.splat(f32.div(f32.const(1), deviation.get))),
        constant.set(constants.get),
        over([
          x.set(f32x4.mul(f32x4.sub(v128.load(at.get), mean.get), factor.get)),
          x.set(f32x4.mul(x.get, v128.load(constant.get))),
          v128.store(at.get, f32x4.add(x.get, v128.load(i32.add(constant.get, length.get)))),
          constant.step(FLOATS),
        ]),
        rows.set(end.get),
      ]),
    ]
  })

/** Parameters: numbers, which are overwritten, and their end. */
export const geluKernel = (multiplyAdd: MultiplyAdd): Kernel =>
  kernel("gelu", 2, (builder) => {
    const [from, end] = builder.parameters as [Local, Local]
    const at = builder.local("i32")
    const curve = gelu(builder, multiplyAdd)
    return [
      repeat(at, { from: from.get, below: end.get, step: FLOATS }, [
        curve.x.set(v128.load(at.get)),
        curve.draw,
        v128.store(at.get, curve.value),
      ]),
    ]
  })

/**
 * Softmax of each row. Parameters: rows, which are overwritten, number of rows, length of a row in bytes, and the
 * length that counts; the rest, at least one number, becomes 0.
 */
export const softmaxKernel = (multiplyAdd: MultiplyAdd): Kernel =>
  kernel("softmax", 4, (builder) => {
    const [rows, count, length, counted] = builder.parameters as [Local, Local, Local, Local]
    const [row, at, end] = builder.locals("i32", 3) as Three
    const [most, sum, share] = builder.locals("v128", 3) as Three
    const e = exponential(builder, multiplyAdd)
    const over = (body: WasmCode[]) => repeat(at, { from: rows.get, below: end.get, step: FLOATS }, body)
    const never = f32.const(-1e30)
    return [
      repeat(row, { below: count.get }, [
        end.set(i32.add(rows.get, length.get)),
        repeat(at, { from: i32.add(rows.get, counted.get), below: end.get, step: 4 }, [f32.store(at.get, never)]),
        most.set(v128.load(rows.get)),
        over([most.set(f32x4.max(most.get, v128.load(at.get)))]),
        most.set(f32x4.splat(ofLanes(f32.max, most.get))),
        sum.set(f32x4.const(0)),
        over([
          e.x.set(f32x4.sub(v128.load(at.get), most.get)),
          e.draw,
          v128.store(at.get, e.value),
          sum.set(f32x4.add(sum.get, e.value)),
        ]),
        share.set(f32x4.splat(f32.div(f32.const(1), ofLanes(f32.add, sum.get)))),
        over([v128.store(at.get, f32x4.mul(v128.load(at.get), share.get))]),
        rows.set(end.get),
      ]),
    ]
  })

type Three = [Local, Local, Local]
type Five = [Local, Local, Local, Local, Local]
type Six = [Local, Local, Local, Local, Local, Local]

function ofLanes(join: (a: WasmCode, b: WasmCode) => WasmCode, vector: WasmCode): WasmCode {
  const [a, b, c, d] = [0, 1, 2, 3].map((lane) => f32x4.lane(lane, vector))
  return join(join(a!, b!), join(c!, d!))
}
