export interface WasmMemory {
  readonly buffer: ArrayBuffer
  grow(pages: number): number
}

type Exports = Readonly<Record<string, (...parameters: number[]) => void>>

/** Node has it; its types come only with those of browsers. */
declare const WebAssembly: {
  validate(bytes: Uint8Array): boolean
  Memory: new (size: { initial: number }) => WasmMemory
  Module: new (bytes: Uint8Array) => object
  Instance: new (module: object, imports: { memory: { memory: WasmMemory } }) => { readonly exports: Exports }
}

/** Of one page, 64 KB: it is grown. */
export const createMemory = (): WasmMemory => new WebAssembly.Memory({ initial: 1 })

/** Whether this machine has all instructions of a module. */
export const canRun = (module: Uint8Array): boolean => WebAssembly.validate(module)

/** The functions of a module, over this memory. */
export const instantiate = (module: Uint8Array, memory: WasmMemory): Exports =>
  new WebAssembly.Instance(new WebAssembly.Module(module), { memory: { memory } }).exports
