import { readdirSync, readFileSync } from "node:fs"
import { expect, test } from "vitest"
import { dataFolder, PawlProcess } from "../support/processes/pawl-process.ts"
import { tokenFor } from "../support/processes/token-for.ts"

/** The processes that this one has started, by program. */
function childrenOf(parent: number | undefined, program: string): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        const [, of] = /\) \S (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, "utf8")) ?? []
        return of === String(parent) && readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(program)
      } catch {
        return false // it has ended meanwhile
      }
    })
    .map(Number)
}

test.runIf(process.platform === "linux")(
  "the server logs how a process that reads files has failed, and callers do not notice",
  async () => {
    const settings = { PAWL_DATA: dataFolder(), PAWL_PORT: "0" }
    await using server = new PawlProcess(["serve"], settings)
    const url = (await server.says(/listening on (\S+)/))[1] ?? ""
    const token = await tokenFor(settings)
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" }
    const post = async (path: string, body: object) => {
      const response = await fetch(`${url}/api${path}`, { method: "POST", headers, body: JSON.stringify(body) })
      return { status: response.status, body: (await response.json()) as { id: string } }
    }
    const { id } = (await post("/connections/sample", {})).body
    const ask = () => post(`/connections/${id}/query`, { sql: "SELECT 1" })
    expect((await ask()).status).toBe(200)
    const [pid] = childrenOf(server.child.pid, "sqlite-child")
    process.kill(pid ?? 0, "SIGSEGV")
    expect((await ask()).status).toBe(200)
    const [line] = await server.says(/.*child_failed.*/)
    expect(line).toContain("SIGSEGV")
    expect(line).toContain("sqlite-child")
    expect(line).toContain(String(pid))
  },
)
