import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { dataFolder, PawlProcess } from "../support/processes/pawl-process.ts"
import { tokenFor } from "../support/processes/token-for.ts"
import { Visitor } from "../support/server/face.ts"
import { lifeNamed } from "../support/processes/package.ts"
import { waitsForNothing } from "../support/processes/waits-for-nothing.ts"

function start(words: string[], environment: Record<string, string>, life?: string): PawlProcess {
  const child = new PawlProcess(words, environment, life ? { script: lifeNamed(life) } : {})
  onTestFinished(() => child[Symbol.asyncDispose]())
  return child
}

test("a stopping server closes its sockets with 1001 at once, and they reconnect at its next start", async () => {
  const data = { PAWL_DATA: dataFolder() }
  const first = start(["serve"], { ...data, PAWL_PORT: "0", ...waitsForNothing })
  const [, url = ""] = await first.says(/listening on (\S+)\n/)
  const token = await tokenFor(data)
  const ada = new Visitor(fetch, token, url)
  const id = await ada.begin({ title: "Watched" })
  const device = start([url, join(data.PAWL_DATA, "device.db")], { DEVICE_TOKEN: token }, "device-life")
  const watcher = start([url, id], { WATCHER_TOKEN: token }, "watcher-life")
  await Promise.all([device.says(/connected/), watcher.says(/"id":"1"/)])

  expect((await first.kill("SIGTERM")).code).toBe(0)
  // Not 4401, which would stop the device for good.
  await watcher.says(/closed 1001/)
  await device.says(/waiting/)

  const second = start(["serve"], { ...data, PAWL_PORT: new URL(url).port })
  await second.says(/listening on/)
  await device.says(/waiting[\s\S]*connected\n/)
  expect((await ada.get("/api/devices")).body.items).toHaveLength(1)
  await ada.say(id, "list my tasks")
  await watcher.says(/closed 1001[\s\S]*"type":"done"/)
})
