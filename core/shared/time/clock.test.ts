import { execFileSync } from "node:child_process"
import { describe, expect, it } from "vitest"
import { FarAlarms } from "./clock.ts"

describe("alarms far in the future", () => {
  it("ring together in their second, also if one throws", async () => {
    const alarms = new FarAlarms()
    const rung: string[] = []
    const caught = new Promise<unknown>((resolve) => process.once("uncaughtException", resolve))
    await new Promise<void>((resolve) => {
      alarms.set(1, () => rung.push("first"), false)
      alarms.set(1, () => failing(), true)
      alarms.set(1, () => rung.push("background"), true)
      alarms.set(2, resolve, false)
    })
    expect(rung).toEqual(["first", "background"])
    expect(await caught).toEqual(new Error("a defect"))
  })

  it("never ring after they were cancelled, not even by one that rings at the same moment", async () => {
    const alarms = new FarAlarms()
    const rung: string[] = []
    await new Promise<void>((resolve) => {
      const takeBack = alarms.set(1, () => rung.push("taken back before"), false)
      let takeBackLater = () => {}
      alarms.set(1, () => takeBackLater(), false)
      takeBackLater = alarms.set(1, () => rung.push("taken back by its neighbour"), false)
      alarms.set(2, resolve, false)
      takeBack()
      takeBack()
    })
    expect(rung).toEqual([])
  })

  it("keep a process alive only in the foreground", () => {
    const source = JSON.stringify(new URL("./clock.ts", import.meta.url).pathname)
    const program = `const { FarAlarms } = await import(${source})
      const alarms = new FarAlarms()
      alarms.set(3_600_000, () => {}, true)
      alarms.set(3_600_000, () => {}, false)()
      alarms.set(1, () => console.log("awaited"), false)`
    // One that is kept alive would be so for an hour, and this process with it.
    const patience = { encoding: "utf8", timeout: 60_000 } as const
    const told = execFileSync(process.execPath, ["--input-type=module", "-e", program], patience)
    expect(told).toBe("awaited\n")
  })
})

function failing(): never {
  throw new Error("a defect")
}
