import { createMemory } from "../../../shared/vectors/wasm/machine.ts"

const PAGE = 65_536
const ALIGNED = 64

/** The memory of the kernels: pieces are handed out one after the other, and none is given back. */
export class KernelMemory {
  readonly memory = createMemory()
  #end = ALIGNED

  /** The address of so many bytes. */
  reserve(bytes: number): number {
    const address = this.#end
    this.#end = Math.ceil((address + bytes) / ALIGNED) * ALIGNED
    const missing = Math.ceil((this.#end - this.memory.buffer.byteLength) / PAGE)
    if (missing > 0) this.memory.grow(missing)
    return address
  }

  /** The address of these numbers. */
  put(numbers: Int8Array | Float32Array): number {
    const address = this.reserve(numbers.byteLength)
    const bytes = new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength)
    new Uint8Array(this.memory.buffer).set(bytes, address)
    return address
  }

  /** Numbers at an address. Not to be kept: memory that grows is another one. */
  floats(address: number, length: number): Float32Array {
    return new Float32Array(this.memory.buffer, address, length)
  }
}
