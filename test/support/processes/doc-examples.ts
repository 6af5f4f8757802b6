import { execFile } from "node:child_process"
import { readdirSync, readFileSync } from "node:fs"
import { cp, mkdtemp, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { promisify } from "node:util"
import { dataFolder, PawlProcess } from "./pawl-process.ts"

const folder = join(import.meta.dirname, "..", "..", "..", "docs")
const EXAMPLE =
  /```ts run(?<server> server)?(?<provider> provider)?\n(?<code>[\s\S]*?)```[\s\S]*?```text\n(?<output>[\s\S]*?)```/g

export const pages = readdirSync(folder, { recursive: true, encoding: "utf8" })
  .filter((page) => page.endsWith(".md") && !page.startsWith("decisions"))
  .sort()

export interface Example {
  readonly page: string
  /** Its number on the page, from 1. */
  readonly example: number
  readonly code: string
  /** The output that the page shows. */
  readonly output: string
  /** Whether it uses a server that runs already. */
  readonly server: boolean
  /** Whether it uses a model provider, which is simulated here. */
  readonly provider: boolean
}

/** Each `ts run` block of the pages, with the `text` block that follows it. */
export const examples: readonly Example[] = pages.flatMap((page) => {
  const text = readFileSync(join(folder, page), "utf8")
  return [...text.matchAll(EXAMPLE)].map(({ groups = {} }, index) => {
    const { code = "", output = "", server, provider } = groups
    return { page, example: index + 1, code, output, server: server !== undefined, provider: provider !== undefined }
  })
})

/** Code that imports the library, for a folder that has only `pawl`, which exports the same. */
export const withPawl = (code: string): string => code.replaceAll('from "@pawl/core', 'from "pawl')

/** The Pawl that runs the examples. */
export interface Surroundings {
  /** The folder where `pawl` is this Pawl. */
  readonly folder: string
  /** Its command; by default that of this checkout. */
  readonly script?: string
  /** Arguments for Node. */
  readonly flags?: readonly string[]
  /** The data of a first start, with this token: each example starts with a copy. */
  readonly begun: string
  readonly token: string
  /** A running server, for examples that are not about the server itself. Each example is a new user there. */
  readonly standing?: Standing
}

export interface Standing {
  readonly url: string
  readonly data: string
  newToken(): Promise<string>
}

/** These count or name items of their server. */
const OWN_SERVER: readonly string[] = ["recipes/sign-in.md"]

/** Pages whose examples simulate servers that Pawl connects to. */
export const settingsOfExamples = (data: string) => ({
  PAWL_DATA: data,
  PAWL_PORT: "0",
  PAWL_ALLOW_PRIVATE_HOSTS: "127.0.0.1",
})

/** Runs an example as a file of its own. Returns what it prints. */
export async function runExample(example: Example, around: Surroundings): Promise<string> {
  const { code, server, provider, page } = example
  const { script, flags = [], begun } = around
  const standing = server && !OWN_SERVER.includes(page) ? around.standing : undefined
  const own = await mkdtemp(join(around.folder, ".docs-"))
  try {
    const file = join(own, "example.ts")
    await writeFile(file, withPawl(code))
    const settings = settingsOfExamples(standing?.data ?? dataFolder())
    if (!standing) await cp(begun, settings.PAWL_DATA, { recursive: true })
    await using serving =
      server && !standing ? new PawlProcess(["serve"], settings, script === undefined ? {} : { script }) : undefined
    const url = standing?.url ?? (await serving?.says(/listening on (\S+)/))?.[1]
    const token = standing ? await standing.newToken() : around.token
    const env = {
      ...process.env,
      ...(provider ? { ANTHROPIC_API_KEY: "sk-ant-example" } : {}),
      ...(url ? { PAWL_URL: url, PAWL_TOKEN: token, PAWL_DATA: settings.PAWL_DATA } : {}),
    }
    const played = provider ? ["--import", join(import.meta.dirname, "played-provider.ts")] : []
    // In its own folder, which is deleted with its data.
    const { stdout } = await promisify(execFile)(process.execPath, [...flags, ...played, file], { cwd: own, env })
    return stdout
  } finally {
    await rm(own, { recursive: true, force: true })
  }
}
