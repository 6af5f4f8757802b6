import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs"
import type { DatabaseSync } from "node:sqlite"
import { lockFile } from "./open-sqlite.ts"

/**
 * The files in a data folder by which a process recognises the node that used the folder before it. The name of a node is
 * written only while its process holds the lock, which the operating system takes away when that process dies. So if the
 * lock is free, that node is dead.
 */
export class NodeFile {
  /** The node that used this folder before, and is dead; undefined if there is none, or nothing proves that it is dead. */
  readonly earlier: string | undefined
  readonly #lock: DatabaseSync
  readonly #path: string
  readonly #identity: string

  private constructor(path: string, lock: DatabaseSync, identity: string) {
    this.#path = path
    this.#lock = lock
    this.#identity = identity
    this.earlier = readNode(path, identity)
  }

  /** Whether a node has used this folder: without one there is nothing to lock, and a command makes no files. */
  static isUsed(path: string): boolean {
    return existsSync(`${path}.json`)
  }

  /** Takes the lock. Undefined if another process has it, or if the folder cannot be used for this. */
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

  /** From now on, until this process lets go or dies, the folder is this node's. */
  record(node: string): void {
    writeFileSync(`${this.#path}.json`, JSON.stringify({ node, lock: this.#identity }))
  }

  close(): void {
    this.#lock.close()
  }
}

/**
 * A copy of the folder holds the same names but another lock, which says nothing about the process that uses the original.
 * So the name counts only together with the very file that is locked, on a machine that was not started anew since.
 */
function readNode(path: string, identity: string): string | undefined {
  try {
    const { node, lock } = JSON.parse(readFileSync(`${path}.json`, "utf8")) as { node?: unknown; lock?: unknown }
    return typeof node === "string" && lock === identity ? node : undefined
  } catch {
    return undefined // there is none yet, or its writer was killed while it wrote
  }
}

/** Of the running kernel. Only Linux has one; without it a copy of a folder on another machine could pass for the original. */
function readBootId(): string | undefined {
  try {
    return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()
  } catch {
    return undefined
  }
}
