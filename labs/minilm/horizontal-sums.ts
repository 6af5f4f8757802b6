import { type WasmCode, shuffle } from "./wasm/instructions.ts"
import type { Local } from "./wasm/module.ts"

const EVEN = [0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27]
const ODD = EVEN.map((byte) => byte + 4)

/** The sums of four vectors, as one vector. Overwrites the first and the third. */
export function horizontalSums([a, b, c, d]: readonly Local[], add: (a: WasmCode, b: WasmCode) => WasmCode): WasmCode {
  const pairs = (x: Local, y: Local) => add(shuffle(EVEN, x.get, y.get), shuffle(ODD, x.get, y.get))
  return [...a!.set(pairs(a!, b!)), ...c!.set(pairs(c!, d!)), ...pairs(a!, c!)]
}
