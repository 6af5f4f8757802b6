import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs"
import type { DatabaseSync } from "node:sqlite"
import { lockFile } from "./open-sqlite.ts"

/**
 * Files in a data folder that identify the node that used the folder before. A node writes its id only while its
 * process holds the lock, which the operating system releases when the process ends. So if the lock is free, that node
 * has ended.
 */
export class NodeFile {
  /** The node that used this folder before and has ended; undefined if there is none, or if that cannot be proven. */
  readonly previousNode: string | undefined
  readonly #lock: DatabaseSync
  readonly #path: string
  readonly #identity: string

  private constructor(path: string, lock: DatabaseSync, identity: string) {
    this.#path = path
    this.#lock = lock
    this.#identity = identity
    this.previousNode = readNode(path, identity)
  }

  /** Whether a node has used this folder. If not, there is nothing to lock, and a command creates no files. */
  static isUsed(path: string): boolean {
    return existsSync(`${path}.json`)
  }

  /** Takes the lock. Undefined if another process has it, or if the folder is unusable. */
  static open(path: string): NodeFile | undefined {
    const bootId = readBootId()
    if (bootId === undefined) return undefined
    let lock: DatabaseSync | undefined
    try {
      lock = lockFile(`${path}.lock`)
      if (!lock) return undefined
      const { dev, ino } = statSync(`${path}.lock`, { bigint: true })
      return new NodeFile(path, lock, `${bootId} ${dev} ${ino}`)
    } catch {
      lock?.close()
      return undefined
    }
  }

  /** Marks the folder as used by this node until this process releases the lock or ends. */
  record(node: string): void {
    writeFileSync(`${this.#path}.json`, JSON.stringify({ node, lock: this.#identity }))
  }

  close(): void {
    this.#lock.close()
  }
}

/**
 * A copied folder has the same id but another lock, which proves nothing about the original's process. So the id counts
 * only together with the same lock file, since the same boot of the machine.
 */
function readNode(path: string, identity: string): string | undefined {
  try {
    const { node, lock } = JSON.parse(readFileSync(`${path}.json`, "utf8")) as { node?: unknown; lock?: unknown }
    return typeof node === "string" && lock === identity ? node : undefined
  } catch {
    return undefined // there is none yet, or its writer was killed while it wrote
  }
}

/**
 * The id of the running kernel. Only Linux has one. Without it, a folder that was copied to another machine could pass
 * for the original.
 */
function readBootId(): string | undefined {
  try {
    return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()
  } catch {
    return undefined
  }
}
