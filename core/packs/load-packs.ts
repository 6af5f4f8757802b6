import type { Clock } from "../shared/time/clock.ts"
import { withTimeLimit } from "../shared/concurrency/time-limit.ts"
import { AppError } from "../protocol/errors.ts"
import type { PackMigration, PackTable, PackTables } from "../engine/pack-services.ts"
import type { OpenedPack, Pack, PackServices } from "./pack.ts"
import { checkOpened, checkPack, packRefused, reasonOf } from "./check-pack.ts"
import { importFrom } from "./import-pack.ts"

/** The services for third-party packs. */
export interface ThirdPartyServices extends Omit<PackServices, "tables"> {
  openTables(of: {
    readonly pack: string
    readonly tables: readonly PackTable[]
    readonly migrations: readonly PackMigration[]
  }): Promise<PackTables>
}

export interface Loading {
  /** The folder that paths and packages are resolved from. */
  readonly folder: string
  readonly clock: Clock
  /** Names that are already used. */
  readonly usedNames: readonly string[]
}

/** Seconds to load a pack, and again to open it. */
const SECONDS = 30

/** Loads third-party packs in order. Throws an error that names the faulty pack, or loads all. */
export async function loadPacks(names: readonly string[], loading: Loading): Promise<Pack<ThirdPartyServices>[]> {
  const { folder, clock } = loading
  const usedNames = new Set(loading.usedNames)
  const loaded: Pack<ThirdPartyServices>[] = []
  for (const named of names) {
    const limits = { named, clock }
    const module = await inTime(limits, "loading it", () => importFrom(folder, named))
    if (!("default" in module)) throw packRefused(named, "it has no default export", EXPORT)
    loaded.push(preparePack(named, module.default, { clock, usedNames }))
  }
  return loaded
}

/** Checks a pack and adds its name to those that are used. Throws `pack_refused`. */
export function preparePack(
  named: string,
  exported: unknown,
  { clock, usedNames }: { readonly clock: Clock; readonly usedNames: Set<string> },
): Pack<ThirdPartyServices> {
  const pack = checkPack(named, exported)
  if (usedNames.has(pack.name))
    throw packRefused(named, `there is a pack "${pack.name}" already`, "give it another name")
  usedNames.add(pack.name)
  return { name: pack.name, open: (services) => open(pack, services, { named, clock }) }
}

const EXPORT = "end its file with `export default definePack({ … })`"
const MEND = "fix the pack, or remove it from PAWL_PACKS"

interface Limits {
  readonly named: string
  readonly clock: Clock
}

async function open(pack: Pack<PackServices>, services: ThirdPartyServices, limits: Limits): Promise<OpenedPack> {
  const { named } = limits
  const { clock, log, web, embedder } = services
  const { tables: declared = [], migrations = [] } = pack.needs ?? {}
  const tables = await services
    .openTables({ pack: pack.name, tables: declared, migrations })
    .catch((error: unknown) => {
      throw packRefused(named, `its tables could not be made: ${reasonOf(error)}`, MEND)
    })
  const opened = await inTime(limits, "open()", async () => pack.open({ tables, clock, log, web, embedder }))
  try {
    return checkOpened(named, opened)
  } catch (error) {
    // Stop the services that it has started, as far as possible.
    await inTime(limits, "close()", async () => opened?.close?.()).catch(() => {})
    throw error
  }
}

async function inTime<T>({ named, clock }: Limits, what: string, work: () => Promise<T>): Promise<T> {
  const { signal } = new AbortController()
  const ended = await withTimeLimit({ clock, seconds: SECONDS, signal, graceMs: 0 }, work)
  if (ended.type === "returned") return ended.value
  if (ended.type === "threw") {
    if (ended.error instanceof AppError && ended.error.code === "pack_refused") throw ended.error
    throw packRefused(named, `${what} failed: ${reasonOf(ended.error)}`, MEND)
  }
  throw packRefused(named, `${what} has not ended after ${SECONDS} s`, MEND)
}
