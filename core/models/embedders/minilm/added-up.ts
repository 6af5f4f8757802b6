import { type WasmCode, shuffle } from "../../../shared/vectors/wasm/instructions.ts"
import type { Local } from "../../../shared/vectors/wasm/module.ts"

const EVEN = [0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27]
const ODD = EVEN.map((byte) => byte + 4)

/** Of four vectors the sum of each, as one vector. The first and the third are used up. */
export function addedUp([a, b, c, d]: readonly Local[], add: (a: WasmCode, b: WasmCode) => WasmCode): WasmCode {
  const pairs = (x: Local, y: Local) => add(shuffle(EVEN, x.get, y.get), shuffle(ODD, x.get, y.get))
  return [...a!.set(pairs(a!, b!)), ...c!.set(pairs(c!, d!)), ...pairs(a!, c!)]
}
