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
 * Makes a boundary of every effect of a tool outside of the store that uses Node's own functions: files, requests,
 * programs, databases of `node:sqlite`. Data sent over a socket directly, as drivers of other databases do, is not
 * detected: such a call only has a boundary before and after it. Only for processes that may be killed.
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

/**
 * Watches one function. `ends`: the event of its result that shows that the effect has happened; without it, the return
 * does.
 */
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
  // Copies properties that callers read, and the function's own promisified variant, which some have.
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
