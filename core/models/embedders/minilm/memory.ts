import { createMemory } from "../../../shared/vectors/wasm/machine.ts"

const PAGE = 65_536
const ALIGNED = 64

/** An arena for the kernels, which never frees. */
export class KernelMemory {
  readonly memory = createMemory()
  #end = ALIGNED

  /** Allocates bytes and returns their address. */
  reserve(bytes: number): number {
    const address = this.#end
    this.#end = Math.ceil((address + bytes) / ALIGNED) * ALIGNED
    const missing = Math.ceil((this.#end - this.memory.buffer.byteLength) / PAGE)
    if (missing > 0) this.memory.grow(missing)
    return address
  }

  /** Copies numbers and returns their address. */
  put(numbers: Int8Array | Float32Array): number {
    const address = this.reserve(numbers.byteLength)
    const bytes = new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength)
    new Uint8Array(this.memory.buffer).set(bytes, address)
    return address
  }

  /** A view of numbers at an address. Must not be stored, because growing the memory replaces its buffer. */
  floats(address: number, length: number): Float32Array {
    return new Float32Array(this.memory.buffer, address, length)
  }
}
