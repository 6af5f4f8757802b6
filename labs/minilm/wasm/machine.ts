export interface WasmMemory {
  readonly buffer: ArrayBuffer
  grow(pages: number): number
}

type Exports = Readonly<Record<string, (...parameters: number[]) => void>>

/** Node has it, but its types come only with those of browsers. */
declare const WebAssembly: {
  validate(bytes: Uint8Array): boolean
  Memory: new (size: { initial: number }) => WasmMemory
  Module: new (bytes: Uint8Array) => object
  Instance: new (module: object, imports: { memory: { memory: WasmMemory } }) => { readonly exports: Exports }
}

/** One page, 64 KB, which grows. */
export const createMemory = (): WasmMemory => new WebAssembly.Memory({ initial: 1 })

/** True if this machine supports all instructions of a module. */
export const canRun = (module: Uint8Array): boolean => WebAssembly.validate(module)

/** The functions of a module, with this memory. */
export const instantiate = (module: Uint8Array, memory: WasmMemory): Exports =>
  new WebAssembly.Instance(new WebAssembly.Module(module), { memory: { memory } }).exports
