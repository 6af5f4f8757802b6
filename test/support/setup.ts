import { type ChildProcess, execFile, spawn } from "node:child_process"
import { randomBytes } from "node:crypto"
import { once } from "node:events"
import { mkdir, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import type { TestProject } from "vitest/node"
import { quickFolder } from "./quick-folder.ts"
import { seedOfRun } from "./sampling.ts"
import { Admin, makeTemplates } from "./template-databases.ts"

declare module "vitest" {
  interface ProvidedContext {
    /** Which engines are tested: both, or SQLite alone for a quick look. */
    engines: readonly string[]
    /** A superuser's url on the PostgreSQL of this test run. */
    postgresUrl: string
    /** Prefixes the name of every database and folder of this test run, so that leftovers can be recognised. */
    testRun: string
    /** The folder for the databases of SQLite. */
    sqliteFolder: string
    /** The folder where `processes/build-package.ts` has put the package. */
    package: string
    /** The default seed of every random test. */
    seed: number
  }
}

/** Once for all projects: one real PostgreSQL, one temporary folder and one package; all are gone afterwards. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const testRun = `pawl_test_${randomBytes(4).toString("hex")}`
  const folder = join(tmpdir(), testRun)
  const engines = (process.env.PAWL_TEST_ENGINES || "sqlite,postgres").split(",")
  const unknown = engines.find((name) => name !== "sqlite" && name !== "postgres")
  if (unknown !== undefined) throw new Error(`PAWL_TEST_ENGINES: there is no "${unknown}", only sqlite and postgres`)
  const given = engines.includes("postgres") ? process.env.PAWL_TEST_POSTGRES_URL : ""
  const throwaway = given === undefined ? await startThrowaway() : undefined
  const postgresUrl = given ?? throwaway!.url
  const sqliteFolder = join(quickFolder(), `${testRun}_sqlite`)
  for (const each of [folder, sqliteFolder]) await mkdir(each)
  // Hundreds of processes share this compile cache. It is new for each run because entries of the last run's package
  // are useless.
  process.env.NODE_COMPILE_CACHE = join(folder, "compiled")
  const templates = makeTemplates({ folder: sqliteFolder, postgresUrl, testRun })
  await Promise.all([templates, buildPackage(join(folder, "package"))])
  project.provide("package", join(folder, "package"))
  project.provide("engines", engines)
  project.provide("postgresUrl", postgresUrl)
  project.provide("testRun", testRun)
  project.provide("sqliteFolder", sqliteFolder)
  const seed = seedOfRun()
  project.provide("seed", seed)
  process.stderr.write(`The tests of chance begin with PAWL_TEST_SEED=${seed}\n`)
  return async () => {
    for (const each of [folder, sqliteFolder]) await rm(each, { recursive: true, force: true, maxRetries: 3 })
    if (throwaway) await throwaway.stop()
    else if (postgresUrl) await dropLeftovers(postgresUrl, testRun)
  }
}

/** By a process of its own: what builds it asks Node where packages are, which the loader of the tests cannot tell. */
async function buildPackage(folder: string): Promise<void> {
  const script = fileURLToPath(new URL("processes/build-package.ts", import.meta.url))
  await promisify(execFile)(process.execPath, [script, folder])
}

async function startThrowaway(): Promise<{ url: string; stop(): Promise<void> }> {
  const script = fileURLToPath(new URL("throwaway-postgres.ts", import.meta.url))
  // Detached, because Ctrl-C reaches a whole process group: the end of its input stops it, however this process ends.
  const child = spawn(process.execPath, [script], { stdio: ["pipe", "pipe", "inherit"], detached: true })
  const exited = once(child, "exit")
  const url = await Promise.race([firstLine(child), exited.then(() => "")])
  if (!url) throw new Error("Set PAWL_TEST_POSTGRES_URL to the url of a superuser of a PostgreSQL to use that instead.")
  return {
    url,
    async stop() {
      child.stdin.end()
      await exited
    },
  }
}

async function firstLine(child: ChildProcess): Promise<string> {
  let text = ""
  for await (const chunk of child.stdout ?? []) {
    text += String(chunk)
    if (text.includes("\n")) break
  }
  return text.trim()
}

/**
 * An external server keeps the databases that a crashed test left until they are dropped. Processes of that test may
 * still be connected.
 */
async function dropLeftovers(url: string, testRun: string): Promise<void> {
  await using admin = new Admin(url)
  const names = "select datname as name from pg_database where starts_with(datname, $1)"
  for (const { name } of await admin.run<{ name: string }>(names, [testRun]))
    await admin.run(`drop database if exists ${name} with (force)`)
}
