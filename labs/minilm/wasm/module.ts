import { type WasmCode, f32x4, i32, unsigned } from "./instructions.ts"

type ValueType = "i32" | "f32" | "v128"
const TYPES: Readonly<Record<ValueType, number>> = { i32: 0x7f, f32: 0x7d, v128: 0x7b }
const FUNCTION = 0x60
const MAGIC = [0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00]
const SECTION = { types: 1, imports: 2, functions: 3, exports: 7, code: 10 }
const NO_RESULT = 0x40

/** A variable of a function. */
export interface Local {
  readonly get: WasmCode
  set(value: WasmCode): WasmCode
  /** Adds to an integer. */
  step(by: WasmCode | number): WasmCode
}

/** A function on the memory: its parameters are integers, mostly addresses, and it has no result. */
export interface Kernel {
  readonly name: string
  readonly bytes: WasmCode
  readonly parameters: number
}

export interface KernelBuilder {
  readonly parameters: readonly Local[]
  local(type: ValueType): Local
  locals(type: ValueType, count: number): Local[]
  /** A number in all four lanes, computed before the loop so that no round repeats it. */
  constant(value: number): WasmCode
}

/** Builds a function: `write` gets its parameters and creates its variables. */
export function kernel(name: string, parameters: number, write: (writing: KernelBuilder) => WasmCode[]): Kernel {
  const types: ValueType[] = []
  const local = (type: ValueType) => toLocal(parameters + types.push(type) - 1)
  const locals = (type: ValueType, count: number) => Array.from({ length: count }, () => local(type))
  const constants = new Map<number, Local>()
  const constant = (value: number) => {
    if (!constants.has(value)) constants.set(value, local("v128"))
    return constants.get(value)!.get
  }
  const given = Array.from({ length: parameters }, (_, i) => toLocal(i))
  const written = write({ parameters: given, local, locals, constant }).flat()
  const body = [...[...constants].flatMap(([value, { set }]) => set(f32x4.const(value))), ...written]
  const declared = types.flatMap((type) => [1, TYPES[type]])
  const code = [...unsigned(types.length), ...declared, ...body, 0x0b]
  return { name, parameters, bytes: [...unsigned(code.length), ...code] }
}

function toLocal(index: number): Local {
  const get = [0x20, ...unsigned(index)]
  const set = (value: WasmCode) => [...value, 0x21, ...unsigned(index)]
  const step = (by: WasmCode | number) => set(i32.add(get, typeof by === "number" ? i32.const(by) : by))
  return { get, set, step }
}

interface Range {
  readonly from?: WasmCode
  readonly below: WasmCode
  readonly step?: number
}

/** Repeats the body while the counter is below a limit, which is first checked after the first round. */
export function repeat(
  counter: Local,
  { from = i32.const(0), below, step = 1 }: Range,
  body: readonly WasmCode[],
): WasmCode {
  const again = [...i32.lessThan(counter.get, below), 0x0d, 0]
  return [...counter.set(from), 0x03, NO_RESULT, ...body.flat(), ...counter.step(step), ...again, 0x0b]
}

/** A module of these functions, with an imported memory. */
export function toModule(kernels: readonly Kernel[]): Uint8Array<ArrayBuffer> {
  const memory = [...text("memory"), ...text("memory"), 0x02, 0x00, 0x01]
  return new Uint8Array([
    ...MAGIC,
    ...section(
      SECTION.types,
      kernels.map(({ parameters }) => [FUNCTION, ...vector(Array(parameters).fill([TYPES.i32])), 0]),
    ),
    ...section(SECTION.imports, [memory]),
    ...section(
      SECTION.functions,
      kernels.map((_, i) => unsigned(i)),
    ),
    ...section(
      SECTION.exports,
      kernels.map(({ name }, i) => [...text(name), 0x00, ...unsigned(i)]),
    ),
    ...section(
      SECTION.code,
      kernels.map(({ bytes }) => bytes),
    ),
  ])
}

const vector = (items: readonly WasmCode[]) => [...unsigned(items.length), ...items.flat()]
const text = (name: string) => vector([...Buffer.from(name)].map((byte) => [byte]))

function section(id: number, items: readonly WasmCode[]): number[] {
  const content = vector(items)
  return [id, ...unsigned(content.length), ...content]
}
