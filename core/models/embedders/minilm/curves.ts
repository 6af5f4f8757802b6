import { type WasmCode, f32x4, i32, i32x4, type MultiplyAdd } from "../../../shared/vectors/wasm/instructions.ts"
import type { Local, KernelWriting } from "../../../shared/vectors/wasm/module.ts"

/** Below this e^x is smaller than any number that matters, and its exponent would run over. */
const LEAST = -87
/** ln 2 in two parts: the first has few digits, so that its multiples are exact. */
const LN2 = [0.693359375, -2.1219444e-4] as const
/** Of e^r for r between -ln2/2 and ln2/2, the term of r^7 first, as in the Cephes library. */
const EXPONENTIAL = [1.98756915e-4, 1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1, 5.0000001201e-1]
/** Abramowitz and Stegun 7.1.26: the error function to seven digits. */
const ERROR_SCALE = 0.3275911
const ERROR = [1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592]

/** A curve that is drawn over four numbers at a time: code that leaves its value of `x` in a variable. */
export interface Curve {
  readonly x: Local
  readonly draw: WasmCode
  readonly value: WasmCode
}

/** e^x, to seven digits. */
export function exponential({ locals, constant }: KernelWriting, multiplyAdd: MultiplyAdd): Curve {
  const [x, n, r] = locals("v128", 3) as [Local, Local, Local]
  // The exponent of a float is kept as a whole number, with 127 added, from its bit 23 on.
  const power = i32x4.shiftLeft(i32x4.fromFloat(f32x4.add(n.get, constant(127))), i32.const(23))
  const near = f32x4.add(
    f32x4.mul(f32x4.mul(polynomial(EXPONENTIAL.map(constant), r.get, multiplyAdd), r.get), r.get),
    r.get,
  )
  const draw = [
    x.set(f32x4.max(x.get, constant(LEAST))),
    n.set(f32x4.nearest(f32x4.mul(x.get, constant(Math.LOG2E)))),
    r.set(f32x4.sub(x.get, f32x4.mul(n.get, constant(LN2[0])))),
    r.set(f32x4.sub(r.get, f32x4.mul(n.get, constant(LN2[1])))),
    x.set(f32x4.mul(f32x4.add(near, constant(1)), power)),
  ].flat()
  return { x, draw, value: x.get }
}

/** x · Φ(x), by the error function: the bend in every layer of the model. */
export function gelu(writing: KernelWriting, multiplyAdd: MultiplyAdd): Curve {
  const { constant } = writing
  const [x, z, t] = writing.locals("v128", 3) as [Local, Local, Local]
  const e = exponential(writing, multiplyAdd)
  // x/2 + |x|/2 · erf(|x|/√2), as erf is odd.
  const half = constant(0.5)
  const error = f32x4.sub(
    constant(1),
    f32x4.mul(f32x4.mul(polynomial(ERROR.map(constant), t.get, multiplyAdd), t.get), e.value),
  )
  const draw = [
    z.set(f32x4.mul(f32x4.abs(x.get), constant(Math.SQRT1_2))),
    t.set(f32x4.div(constant(1), f32x4.add(constant(1), f32x4.mul(z.get, constant(ERROR_SCALE))))),
    e.x.set(f32x4.sub(constant(0), f32x4.mul(z.get, z.get))),
    e.draw,
    x.set(f32x4.mul(half, f32x4.add(x.get, f32x4.mul(f32x4.abs(x.get), error)))),
  ].flat()
  return { x, draw, value: x.get }
}

/** The highest power first. */
function polynomial([first, ...rest]: readonly WasmCode[], x: WasmCode, multiplyAdd: MultiplyAdd): WasmCode {
  return rest.reduce((sum, next) => multiplyAdd(sum, x, next), first!)
}
