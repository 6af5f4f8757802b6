/** WebAssembly instructions as bytes. The code of a value leaves that value on the stack. */
export type WasmCode = readonly number[]

/** LEB128: seven bits per byte, the lowest first. */
export function unsigned(value: number): number[] {
  const bytes: number[] = []
  for (; value > 127; value = Math.floor(value / 128)) bytes.push((value % 128) + 128)
  return [...bytes, value]
}

function signed(value: number): number[] {
  const bytes: number[] = []
  for (; value < -64 || value > 63; value >>= 7) bytes.push((value & 127) + 128)
  return [...bytes, value & 127]
}

const VECTOR = 0xfd
const op =
  (...bytes: number[]) =>
  (...operands: WasmCode[]): WasmCode => [...operands.flat(), ...bytes]
const vectorOp = (number: number) => op(VECTOR, ...unsigned(number))
const laneOp = (number: number) => (lane: number, value: WasmCode) => [...value, VECTOR, ...unsigned(number), lane]

/** Alignment is only a hint, which current machines ignore: 0 is always valid. */
const memoryOp =
  (...bytes: number[]) =>
  (address: WasmCode, offset = 0): WasmCode => [...address, ...bytes, 0, ...unsigned(offset)]
const storeOp =
  (...bytes: number[]) =>
  (address: WasmCode, value: WasmCode, offset = 0): WasmCode => [...address, ...value, ...bytes, 0, ...unsigned(offset)]

const floatBytes = (value: number) => [...new Uint8Array(new Float32Array([value]).buffer)]

export const i32 = {
  const: (value: number): WasmCode => [0x41, ...signed(value)],
  add: op(0x6a),
  sub: op(0x6b),
  mul: op(0x6c),
  lessThan: op(0x48),
  load: memoryOp(0x28),
}

export const f32 = {
  const: (value: number): WasmCode => [0x43, ...floatBytes(value)],
  add: op(0x92),
  sub: op(0x93),
  mul: op(0x94),
  div: op(0x95),
  min: op(0x96),
  max: op(0x97),
  sqrt: op(0x91),
  fromInteger: op(0xb2),
  load: memoryOp(0x2a),
  store: storeOp(0x38),
}

export const v128 = {
  load: memoryOp(VECTOR, 0x00),
  /** A 32-bit number in all four lanes. */
  splat32: memoryOp(VECTOR, 0x09),
  store: storeOp(VECTOR, 0x0b),
  and: vectorOp(0x4e),
  or: vectorOp(0x50),
  xor: vectorOp(0x51),
}

/** Sixteen bytes of two vectors by index: 0 to 15 of the first, 16 to 31 of the second. */
export const shuffle = (bytes: readonly number[], a: WasmCode, b: WasmCode): WasmCode => [
  ...a,
  ...b,
  VECTOR,
  0x0d,
  ...bytes,
]

export const i8x16 = { countBits: vectorOp(0x62), narrowUnsigned: vectorOp(0x66) }

export const i16x8 = {
  narrow: vectorOp(0x85),
  extendLow: vectorOp(0x87),
  extendHigh: vectorOp(0x88),
  addPairsUnsigned: vectorOp(0x7d),
  add: vectorOp(0x8e),
  splat: vectorOp(0x10),
  /**
   * Like `relaxedDot8`, but added in pairs, to eight numbers of 16 bits. One instruction on x86_64 without VNNI, too.
   */
  relaxedDot8: vectorOp(0x112),
}

export const i32x4 = {
  splat: vectorOp(0x11),
  lane: laneOp(0x1b),
  add: vectorOp(0xae),
  shiftLeft: vectorOp(0xab),
  addPairsUnsigned: vectorOp(0x7f),
  /** Products of eight numbers of 16 bits, added in pairs. */
  dot16: vectorOp(0xba),
  /**
   * Products of sixteen bytes, added in fours, plus a third vector. The second factors must be 0 to 127, because
   * machines differ beyond that. One instruction on arm64 with dot products and on x86_64 with VNNI. It belongs to
   * relaxed SIMD, which a machine may lack.
   */
  relaxedDot8: vectorOp(0x113),
  fromFloat: vectorOp(0xf8),
}

export const f32x4 = {
  splat: vectorOp(0x13),
  const: (value: number): WasmCode => [VECTOR, 0x0c, ...[0, 0, 0, 0].flatMap(() => floatBytes(value))],
  lane: laneOp(0x1f),
  nearest: vectorOp(0x6a),
  abs: vectorOp(0xe0),
  add: vectorOp(0xe4),
  sub: vectorOp(0xe5),
  mul: vectorOp(0xe6),
  div: vectorOp(0xe7),
  min: vectorOp(0xe8),
  max: vectorOp(0xe9),
  fromInteger: vectorOp(0xfa),
}

/** a · b + c of four floats, in one instruction if relaxed SIMD is available. The last digit may differ then. */
export type MultiplyAdd = (a: WasmCode, b: WasmCode, c: WasmCode) => WasmCode
export const multiplyAdd = (isRelaxed: boolean): MultiplyAdd =>
  isRelaxed ? vectorOp(0x105) : (a, b, c) => f32x4.add(f32x4.mul(a, b), c)
