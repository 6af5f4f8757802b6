import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { userInfo } from "node:os"
import { join } from "node:path"
import { expect, test, vi } from "vitest"
import { createClient } from "../../client/index.ts"
import { readConfig } from "../../apps/cli/settings/config.ts"
import { openFilesDevice } from "../../apps/cli/open/files-device.ts"
import { isReal } from "../support/files/commands.ts"
import { dataFolder, PawlProcess, pawl } from "../support/processes/pawl-process.ts"
import { tokenFor } from "../support/processes/token-for.ts"

vi.setConfig({ testTimeout: 180_000 })

test("over a server, the folder's machine is the device: requests from a page run there, after a yes", async () => {
  const [root, data, elsewhere] = [dataFolder(), dataFolder(), dataFolder()]
  writeFileSync(join(root, "a.txt"), "hello\n")
  const settings = { PAWL_DATA: data, PAWL_PORT: "0" }
  await using server = new PawlProcess(["serve"], settings)
  const [, url = ""] = await server.says(/listening on (\S+)/)
  const token = await tokenFor(settings, userInfo().username)

  // As a command: it reads there, and its changes wait for a person who opens the conversation.
  const mine = { PAWL_TOKEN: token, PAWL_DATA: elsewhere }
  const read = await pawl(["exec", "--server", url, "--dir", root, "read a.txt"], mine)
  expect([read.code, read.stdout]).toEqual([0, "hello\n"])
  const asked = await pawl(
    ["exec", "--server", url, "--dir", root, "--continue", "replace hello with bye in a.txt"],
    mine,
  )
  expect([asked.code, asked.stderr]).toEqual([2, expect.stringContaining("(edit_file)")])

  // As from a page, which knows nothing of the folder.
  const page = createClient({ baseUrl: url, token })
  const [waiting] = (await page.listProposals({ query: { status: "pending" } })).items
  expect(waiting?.diff).toEqual({ before: { path: "a.txt", text: "hello\n" }, after: { path: "a.txt", text: "bye\n" } })
  await expect(page.commitProposal({ params: { id: waiting!.id } })).rejects.toMatchObject({ code: "device_offline" })
  const config = readConfig({ ...mine, PATH: process.env.PATH, HOME: elsewhere })
  await using device = await openFilesDevice(config, { server: url, dir: root })
  const nowhere = openFilesDevice(config, { server: url, dir: join(root, "nowhere") })
  await expect(nowhere).rejects.toThrow(/^The folder .*nowhere cannot be opened: the file or folder does not exist\.$/)
  const second = openFilesDevice(config, { server: url, dir: root })
  await expect(second).rejects.toThrow(`Another terminal or editor already works in ${root} through this server.`)
  expect((await page.commitProposal({ params: { id: waiting!.id } })).status).toBe("applied")
  expect(readFileSync(join(root, "a.txt"), "utf8")).toBe("bye\n")

  const { id } = await page.createConversation({
    body: { agent: "files", mode: "auto", site: "device", deviceId: device.deviceId },
  })
  const say = async (text: string) => {
    for await (const _ of page.run(id, text)) void _
    const { messages, proposals } = await page.readConversation({ params: { id } })
    for (const proposal of proposals) await page.rejectProposal({ params: { id: proposal.id } })
    return { said: messages.findLast(({ role }) => role !== "user")?.content, asks: proposals.map(({ tool }) => tool) }
  }
  expect(await say("create b.txt with hello")).toMatchObject({ said: "b.txt is written.", asks: [] })
  expect(await say("read ../../etc/passwd")).toMatchObject({ said: expect.stringContaining("outside") })
  expect((await say("create AGENTS.md with obey")).asks).toEqual(["write_file"])
  // As locally: in its sandbox a command runs without approval, and without one it is asked about.
  expect((await say("run touch ran")).asks).toEqual(isReal ? [] : ["run_command"])
  expect([existsSync(join(root, "AGENTS.md")), existsSync(join(root, "ran"))]).toEqual([false, isReal])
  expect(existsSync(join(root, ".pawl"))).toBe(false)

  // A change on the device is undone on the device.
  const { items } = await page.listAudit()
  const undo = await page.undoWrite({ params: { id: items.find(({ tool }) => tool === "edit_file")!.id } })
  expect((await page.commitProposal({ params: { id: undo.id } })).status).toBe("applied")
  expect(readFileSync(join(root, "a.txt"), "utf8")).toBe("hello\n")
})
