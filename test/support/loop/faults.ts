import type { AppendOptions, Journal } from "../../../core/engine/journal.ts"

/** Thrown by a journal whose process has crashed, so that no later step of the process runs. */
export class Died extends Error {
  readonly code = "lease_lost" // the loop ends silently, as a killed process does
}

export interface Death {
  /** The number of the fatal write, from 1; `taking`: the first that takes a message out of the inbox. */
  readonly at: number | "taking"
  /** Whether that write still reaches the disk. */
  readonly when: "before" | "after"
}

/** A journal whose process crashes at a write: it returns neither that write's result nor a later one. */
export function dyingAt(
  { at, when }: Death,
  journal: Journal,
): Journal & { readonly writes: number; readonly dead: boolean } {
  let writes = 0
  let dead = false
  const fatal = async <T>(write: () => Promise<T>, given: readonly unknown[]): Promise<T> => {
    if (dead) throw new Died("dead")
    writes++
    if (at === "taking" ? !given.some(takes) : writes !== at) return write()
    dead = true
    if (when === "after") await write()
    throw new Died(`died at write ${at}`)
  }
  return intercept(journal, fatal, {
    get writes() {
      return writes
    },
    get dead() {
      return dead
    },
  })
}

const takes = (given: unknown): boolean => ((given as Partial<AppendOptions> | undefined)?.taken ?? []).length > 0

/** A journal that does the n-th write and reports a time-out, then works as usual. */
export function timingOutAt(at: number, journal: Journal): Journal & { readonly writes: number } {
  let writes = 0
  const lost = async <T>(write: () => Promise<T>): Promise<T> => {
    const mine = ++writes
    const done = await write()
    if (mine === at) throw Object.assign(new Error("timed out waiting for the store"), { code: "store_unavailable" })
    return done
  }
  return intercept(journal, lost, {
    get writes() {
      return writes
    },
  })
}

/** The same journal with every write passed through `around`. */
function intercept<Extra extends object>(
  journal: Journal,
  around: <T>(write: () => Promise<T>, given: readonly unknown[]) => Promise<T>,
  extra: Extra,
): Journal & Extra {
  // The names are typed: the writes of a method that the journal does not have would silently stay uncounted.
  const names = new Set<PropertyKey>(["create", "claim", "append", "addToInbox"] satisfies (keyof Journal)[])
  return new Proxy(journal, {
    get(target, name) {
      if (name in extra) return extra[name as keyof Extra]
      const value = Reflect.get(target, name, target) as unknown
      if (typeof value !== "function") return value
      const method = value.bind(target) as (...given: unknown[]) => Promise<unknown>
      return names.has(name) ? (...given: unknown[]) => around(() => method(...given), given) : method
    },
  }) as Journal & Extra
}
