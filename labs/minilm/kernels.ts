import { readFileSync } from "node:fs"
import { multiplyAdd } from "./wasm/instructions.ts"
import { canRun, instantiate, type WasmMemory } from "./wasm/machine.ts"
import { toModule } from "./wasm/module.ts"
import { floatProductKernel, transposeKernel } from "./attention-kernels.ts"
import { type Multiply, productKernel } from "./product-kernel.ts"
import { geluKernel, normaliseKernel, softmaxKernel, toBytesKernel } from "./row-kernels.ts"

/** The width of the model and of its inner layers. */
export const WIDTH = 384
export const INNER_WIDTH = 1536

/** The maximum rows per step of the byte product: the number of rows is a multiple of it. */
export const MAX_TILE = 4

type Name = "product384" | "product1536" | "toBytes" | "normalise" | "gelu" | "softmax" | "floatProduct" | "turn"
/** Functions over the memory; each is documented at its definition. */
export type Kernels = Readonly<Record<Name, (...parameters: number[]) => void>>

export interface KernelChoice {
  readonly multiply: Multiply
  readonly rows: number
}

/** Compiles kernels for this machine. All choices give the same numbers up to rounding. */
export function createKernels(memory: WasmMemory, choice: KernelChoice = chooseKernels()): Kernels {
  return instantiate(moduleFor(choice), memory) as Kernels
}

/**
 * Chosen by features: relaxed SIMD if it can be compiled. arm64 has twice the registers of x86_64. Most x86_64 have no
 * instruction for sixteen products; V8 then emits five, and two of them are redundant.
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
    transposeKernel(),
  ])

/**
 * Whether this x86_64 has one instruction for sixteen products. Only Linux reports it; other systems are assumed not
 * to.
 */
function hasVnni(): boolean {
  try {
    return /^flags\b.* avx_vnni\b/m.test(readFileSync("/proc/cpuinfo", "latin1"))
  } catch {
    return false
  }
}
