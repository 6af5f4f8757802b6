import { multiplyAdd } from "../../../vectors/wasm/instructions.ts"
import { canRun, instantiate, type WasmMemory } from "../../../vectors/wasm/machine.ts"
import { toModule } from "../../../vectors/wasm/module.ts"
import { floatProductKernel, turnKernel } from "./attention-kernels.ts"
import { productKernel } from "./product-kernel.ts"
import { geluKernel, normaliseKernel, softmaxKernel, toBytesKernel } from "./row-kernels.ts"

/** Numbers that a word is, and of the wider layer inside. */
export const WIDTH = 384
export const INNER_WIDTH = 1536

/** Rows that the product of bytes takes at a time, at most: the count of rows is a multiple of it. */
export const MAX_TILE = 4

type Name = "product384" | "product1536" | "toBytes" | "normalise" | "gelu" | "softmax" | "floatProduct" | "turn"
/** Functions over the memory; what each takes is said where it is written. */
export type Kernels = Readonly<Record<Name, (...parameters: number[]) => void>>

export interface KernelChoice {
  readonly isRelaxed: boolean
  readonly rows: number
}

/** Written for what this machine has; with every choice the numbers are the same but for the last digits. */
export function createKernels(memory: WasmMemory, choice: KernelChoice = chooseKernels()): Kernels {
  return instantiate(moduleFor(choice), memory) as Kernels
}

/** Asked of the machine, not of its name: relaxed SIMD where it can be compiled. arm64 has twice the registers of x86_64. */
export function chooseKernels(): KernelChoice {
  const rows = process.arch === "arm64" ? MAX_TILE : MAX_TILE / 2
  return { rows, isRelaxed: canRun(moduleFor({ rows, isRelaxed: true })) }
}

const moduleFor = (choice: KernelChoice) =>
  toModule([
    productKernel("product384", { ...choice, length: WIDTH }),
    productKernel("product1536", { ...choice, length: INNER_WIDTH }),
    toBytesKernel(),
    normaliseKernel(),
    geluKernel(multiplyAdd(choice.isRelaxed)),
    softmaxKernel(multiplyAdd(choice.isRelaxed)),
    floatProductKernel(multiplyAdd(choice.isRelaxed)),
    turnKernel(),
  ])
