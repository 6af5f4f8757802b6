import { AsyncLocalStorage } from "node:async_hooks"
import childProcess from "node:child_process"
import fs from "node:fs"
import http from "node:http"
import https from "node:https"
import { syncBuiltinESMExports } from "node:module"
import sqlite from "node:sqlite"
import { promisify } from "node:util"
import { uncounted, runningCall } from "./boundaries.ts"

/**
 * Functions of `fs` that change files and folders, in their three variants: synchronous, with a callback, with a
 * promise.
 */
const FILE_CHANGES = [
  ...["appendFile", "copyFile", "cp", "link", "mkdir", "mkdtemp", "rename", "rm", "rmdir", "symlink", "truncate"],
  ...["unlink", "write", "writeFile", "writev"],
]
const HANDLE_CHANGES = ["appendFile", "truncate", "write", "writeFile", "writev"]

type Anything = Record<string, unknown>
type Way = (...given: unknown[]) => unknown

let isWatched = false

/**
 * Makes a boundary of whatever a tool does outside of the store, as far as Node's own ways there are taken: files, requests, programs,
 * databases of `node:sqlite`. What goes over a socket of its own, as drivers of other databases do, is not seen: there the call as a
 * whole is what it is killed before and after. For a process that is there to be killed, and for no other.
 */
export async function watchOutside(): Promise<void> {
  if (isWatched) return
  isWatched = true
  const files = fs as unknown as Anything
  for (const name of FILE_CHANGES) {
    watch(files, `${name}Sync`)
    watch(files, name)
    watch(fs.promises as unknown as Anything, name)
  }
  const handle = await fs.promises.open(process.execPath)
  const handles = Object.getPrototypeOf(handle) as Anything
  await handle.close()
  for (const name of HANDLE_CHANGES) watch(handles, name)
  for (const name of ["exec", "execFile", "fork", "spawn"]) watch(childProcess as unknown as Anything, name, "exit")
  for (const name of ["execFileSync", "execSync", "spawnSync"]) watch(childProcess as unknown as Anything, name)
  for (const requests of [http, https]) {
    watch(requests as unknown as Anything, "request", "response")
    watch(requests as unknown as Anything, "get", "response")
  }
  watch(sqlite.DatabaseSync.prototype as unknown as Anything, "exec")
  watch(sqlite.StatementSync.prototype as unknown as Anything, "run")
  watch(globalThis as unknown as Anything, "fetch")
  syncBuiltinESMExports()
}

/** `ends` is the event of what it returns by which it is known to have happened; what returns no such thing is over when it returns. */
function watch(holder: Anything, name: string, ends?: string): void {
  const way = holder[name]
  if (typeof way === "function") holder[name] = watched(way as Way, name, ends)
}

function watched(way: Way, name: string, ends?: string): Way {
  const instead = function (this: unknown, ...given: unknown[]): unknown {
    const running = runningCall()
    if (!running) return way.apply(this, given)
    const reached = running.reach(`${running.call.tool}: ${name}`)
    if (ends !== undefined) return onceIt(way.apply(this, given), ends, reached)
    const last = given.at(-1)
    if (typeof last === "function" && !name.endsWith("Sync")) {
      const told = before(last as Way, reached)
      return uncounted(() => way.apply(this, [...given.slice(0, -1), told]))
    }
    const made = uncounted(() => way.apply(this, given))
    if (made instanceof Promise) return made.finally(reached)
    reached()
    return made
  }
  // Names that others look at, and a way of its own to be asked for a promise, which some have.
  const own = Object.getOwnPropertyDescriptors(way) as PropertyDescriptorMap
  const promised = own[promisify.custom]
  if (typeof promised?.value === "function" && promised.value !== way)
    promised.value = watched(promised.value as Way, name)
  Object.defineProperties(instead, own)
  return instead
}

function onceIt(made: unknown, happened: string, then: () => void): unknown {
  ;(made as NodeJS.EventEmitter).once(happened, then)
  return made
}

/** Effects in a callback belong to the same call. */
const before = (callback: Way, first: () => void): Way =>
  AsyncLocalStorage.bind((...told: unknown[]) => {
    first()
    return callback(...told)
  })
