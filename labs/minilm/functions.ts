import { type WasmCode, f32x4, i32, i32x4, type MultiplyAdd } from "./wasm/instructions.ts"
import type { Local, KernelBuilder } from "./wasm/module.ts"

/** For smaller x, e^x is negligible and its exponent would overflow. */
const LEAST = -87
/** ln 2 in two parts: the first has few digits, so its multiples are exact. */
const LN2 = [0.693359375, -2.1219444e-4] as const
/** The series of e^r for r between -ln2/2 and ln2/2, starting with r^7, as in the Cephes library. */
const EXPONENTIAL = [1.98756915e-4, 1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1, 5.0000001201e-1]
/** Abramowitz and Stegun 7.1.26: the error function to seven digits. */
const ERROR_SCALE = 0.3275911
const ERROR = [1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592]

/** A function of four numbers at a time: `draw` computes `value` from the variable `x`. */
export interface Curve {
  readonly x: Local
  readonly draw: WasmCode
  readonly value: WasmCode
}

/** e^x, to seven digits. */
export function exponential({ locals, constant }: KernelBuilder, multiplyAdd: MultiplyAdd): Curve {
  const [x, n, r] = locals("v128", 3) as [Local, Local, Local]
  // The exponent of a float starts at bit 23 and has a bias of 127.
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

/** x · Φ(x), by the error function: the activation of each layer. */
export function gelu(builder: KernelBuilder, multiplyAdd: MultiplyAdd): Curve {
  const { constant } = builder
  const [x, z, t] = builder.locals("v128", 3) as [Local, Local, Local]
  const e = exponential(builder, multiplyAdd)
  // x/2 + |x|/2 · erf(|x|/√2), because erf is odd.
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

/** Evaluates a polynomial, whose coefficients start with the highest power. */
function polynomial([first, ...rest]: readonly WasmCode[], x: WasmCode, multiplyAdd: MultiplyAdd): WasmCode {
  return rest.reduce((sum, next) => multiplyAdd(sum, x, next), first!)
}
