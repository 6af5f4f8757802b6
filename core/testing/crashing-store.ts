import type { StoreSettings } from "../api/store-settings.ts"
import type { AppendOptions, Journal } from "../engine/journal.ts"
import type { JournalEvent } from "../protocol/events.ts"

/** The write at which an instance crashes. */
export interface CrashPoint {
  /** The number of the fatal write, from 1. */
  readonly at: number
  /** Whether that write still reaches the disk. Default: `before`. */
  readonly when?: "before" | "after"
}

/** The settings of a store at whose n-th write the instance of `openPawl` stops as if it were killed. */
export interface CrashingStore extends StoreSettings {
  /** The writes so far, each with what it recorded, such as `run_started + message`. */
  readonly writes: readonly string[]
  readonly crashed: boolean
  /** Crashes the instance now, for example while a tool runs. */
  crash(): void
}

/**
 * Creates settings for `openPawl({ store })`. At the write of `point`, the instance stops: nothing of it reaches the
 * disk any more, and its pending calls reject. Close it, then open the same store again. Code of a tool that is running
 * cannot be stopped this way; `pawl crashtest` kills real processes.
 *
 * @example
 * const store = crashingStore("crash.db", { at: 2 })
 * const first = await openPawl({ store, models: scripted(says("Hello.")) })
 * await first.ask("Hi.", { key: "hi" }).catch(() => {})
 * await first.close()
 * await using next = await openPawl({ store: "crash.db", models: scripted(says("Hello again.")) })
 * console.log(store.crashed, (await next.ask("Hi.", { key: "hi" })).text) // true Hello again.
 */
export function crashingStore(store: string | StoreSettings, point?: CrashPoint): CrashingStore {
  const { at = 0, when = "before" } = point ?? {}
  if (point && !(Number.isInteger(at) && at > 0)) throw new RangeError(`"at" is ${at}: the first write is 1.`)
  return new MortalStore(typeof store === "string" ? { url: store } : store, new Mortal(point && { at, when }))
}

/** A crashing store as `openPawl` uses it. The methods are not enumerable, so they do not count as settings. */
export class MortalStore implements CrashingStore {
  declare readonly url: string
  readonly #life: Mortal

  constructor(settings: StoreSettings, life: Mortal) {
    Object.assign(this, settings)
    this.#life = life
  }

  get writes(): readonly string[] {
    return this.#life.writes
  }

  get crashed(): boolean {
    return this.#life.dead
  }

  crash(): void {
    this.#life.kill()
  }

  /** Aborts when the instance has crashed. */
  get death(): AbortSignal {
    return this.#life.death
  }

  between(journal: Journal): Journal {
    return this.#life.between(journal)
  }
}

/** Thrown by a journal whose process has crashed, so that no later step of the process runs. */
export class Died extends Error {
  readonly code = "lease_lost" // the loop ends silently, as a killed process does
}

/** A write that the test chooses as the last one of a process. */
export interface FatalWrite {
  /** The number of the fatal write, from 1; `taking`: the first that takes a message out of the inbox. */
  readonly at: number | "taking"
  /** Whether that write still reaches the disk. */
  readonly when: "before" | "after"
}

/** A process that crashes at a write, or when the test kills it: its later writes do not reach the disk. */
export class Mortal {
  readonly writes: string[] = []
  dead = false
  readonly #fatal: FatalWrite | undefined
  readonly #death = new AbortController()

  constructor(fatal?: FatalWrite) {
    this.#fatal = fatal
  }

  /** Aborts after the fatal write, so that closing the instance does not interrupt that write. */
  get death(): AbortSignal {
    return this.#death.signal
  }

  kill(): void {
    this.dead = true
    this.#death.abort()
  }

  /** Wraps the runtime's journal. */
  readonly between = (journal: Journal): Journal =>
    interceptWrites(
      journal,
      async (write, given) => {
        this.#refuseIfDead()
        this.writes.push(describeWrite(given))
        const { at, when } = this.#fatal ?? {}
        if (at === "taking" ? !given.some(takes) : at !== this.writes.length) {
          const done = await write()
          this.#refuseIfDead() // killed meanwhile: it never learns that the write succeeded
          return done
        }
        this.dead = true
        try {
          if (when === "after") await write()
        } finally {
          this.kill()
        }
        throw new Died(`The process crashed ${when} write ${this.writes.length}, as the test requires.`)
      },
      (release) => {
        this.#refuseIfDead()
        return release()
      },
    )

  #refuseIfDead(): void {
    if (this.dead) throw new Died("The process has crashed, as the test requires.")
  }
}

const takes = (given: unknown): boolean => ((given as Partial<AppendOptions> | undefined)?.taken ?? []).length > 0

function describeWrite([, recorded]: readonly unknown[]): string {
  if (!Array.isArray(recorded)) return "inbox"
  return (recorded as readonly JournalEvent[]).map(({ type }) => type).join(" + ") || "lease"
}

type Write = () => Promise<unknown>

/** The same journal with every write passed through `around`. A release is no write: it records nothing. */
export function interceptWrites(
  journal: Journal,
  around: (write: Write, given: readonly unknown[]) => Promise<unknown>,
  aroundRelease: (release: Write) => Promise<unknown> = (release) => release(),
): Journal {
  // The names are typed: the writes of a method that the journal does not have would silently stay uncounted.
  const names = new Set<PropertyKey>(["create", "claim", "append", "addToInbox"] satisfies (keyof Journal)[])
  return new Proxy(journal, {
    get(target, name) {
      const value = Reflect.get(target, name, target) as unknown
      if (typeof value !== "function") return value
      const method = value.bind(target) as (...given: unknown[]) => Promise<unknown>
      if (names.has(name)) return (...given: unknown[]) => around(() => method(...given), given)
      if (name === ("release" satisfies keyof Journal))
        return async (...given: unknown[]) => aroundRelease(() => method(...given))
      return method
    },
  })
}
