import { readFileSync } from "node:fs"
import { multiplyAdd } from "../../../shared/vectors/wasm/instructions.ts"
import { canRun, instantiate, type WasmMemory } from "../../../shared/vectors/wasm/machine.ts"
import { toModule } from "../../../shared/vectors/wasm/module.ts"
import { floatProductKernel, turnKernel } from "./attention-kernels.ts"
import { type Multiply, productKernel } from "./product-kernel.ts"
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
  readonly multiply: Multiply
  readonly rows: number
}

/** Written for what this machine has; with every choice the numbers are the same but for the last digits. */
export function createKernels(memory: WasmMemory, choice: KernelChoice = chooseKernels()): Kernels {
  return instantiate(moduleFor(choice), memory) as Kernels
}

/**
 * Asked of the machine, not of its name: relaxed SIMD where it can be compiled. arm64 has twice the registers of x86_64, of which
 * most have no instruction for sixteen products: V8 then makes five of it, two of which are the same each time.
 */
export function chooseKernels(): KernelChoice {
  const rows = process.arch === "arm64" ? MAX_TILE : MAX_TILE / 2
  const multiply = process.arch === "x64" && !hasVnni() ? "in pairs" : "at once"
  return { rows, multiply: canRun(moduleFor({ rows, multiply })) ? multiply : "widened" }
}

const moduleFor = (choice: KernelChoice) =>
  toModule([
    productKernel("product384", { ...choice, length: WIDTH }),
    productKernel("product1536", { ...choice, length: INNER_WIDTH }),
    toBytesKernel(),
    normaliseKernel(),
    geluKernel(multiplyAdd(choice.multiply !== "widened")),
    softmaxKernel(multiplyAdd(choice.multiply !== "widened")),
    floatProductKernel(choice.rows, multiplyAdd(choice.multiply !== "widened")),
    turnKernel(),
  ])

/** Whether sixteen products are one instruction of this x86_64. Of all systems only Linux says; for the others it is not. */
function hasVnni(): boolean {
  try {
    return /^flags\b.* avx_vnni\b/m.test(readFileSync("/proc/cpuinfo", "latin1"))
  } catch {
    return false
  }
}
