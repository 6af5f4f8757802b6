import { execFile } from "node:child_process"
import { readFileSync } from "node:fs"

/** Kilobytes of memory that a process may write to, as RLIMIT_DATA counts them; undefined where the system does not tell. */
export const dataSize = (pid: number): number | undefined => sizeIn(pid, "VmData")

/** Kilobytes of memory that a process really holds; undefined where the system does not tell. */
export async function residentSize(pid: number): Promise<number | undefined> {
  const told = sizeIn(pid, "VmRSS")
  if (told !== undefined) return told
  return new Promise((resolve) => {
    execFile("ps", ["-o", "rss=", "-p", String(pid)], (_error, stdout) => {
      const kilobytes = Number.parseInt(stdout, 10)
      resolve(Number.isNaN(kilobytes) ? undefined : kilobytes)
    })
  })
}

function sizeIn(pid: number, name: string): number | undefined {
  try {
    const [, kilobytes] =
      new RegExp(`^${name}:\\s*(\\d+) kB`, "m").exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? []
    return kilobytes === undefined ? undefined : Number(kilobytes)
  } catch {
    return undefined // no such process, or no such folder
  }
}
