import { existsSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { readConfig } from "../../apps/cli/settings/config.ts"
import { openEmbedded } from "../../apps/cli/open/embedded.ts"
import { chatReply } from "../../core/models/providers/server.fixture.ts"
import { dataFolder } from "../support/processes/pawl-process.ts"
import { isReal } from "../support/files/commands.ts"
import { calls, provided } from "../terminal/terminal-world.ts"

/** A folder, an embedded Pawl over it, and a model with these replies. */
async function openPlace(...answers: string[]) {
  const world = await provided(...answers)
  const data = dataFolder()
  const config = readConfig({ ...world.settings, PATH: process.env.PATH, HOME: data })
  const embedded = await openEmbedded(config, { dir: world.cwd })
  const { client } = embedded
  return {
    client,
    ran: (name: string) => existsSync(join(world.cwd, name)),
    async say(id: string, text: string) {
      for await (const _ of client.run(id, text)) void _
      const { status, proposals } = await client.readConversation({ params: { id } })
      return { status, proposals }
    },
    async [Symbol.asyncDispose]() {
      await embedded.close()
      await world[Symbol.asyncDispose]()
    },
  }
}

const outside = (command: string) => calls("run_command", { command, outside_sandbox: true })

test("in auto a command outside the sandbox is still asked about, and not run before", async () => {
  await using place = await openPlace(outside("touch escaped"), chatReply("Then not."))
  const { id } = await place.client.createConversation({ body: { agent: "files", mode: "auto" } })
  const { status, proposals } = await place.say(id, "do it")
  expect(status).toBe("awaiting_confirmation")
  expect(proposals).toMatchObject([{ tool: "run_command", insists: true, status: "pending" }])
  expect(place.ran("escaped")).toBe(false)
})

test.skipIf(!isReal)("a standing grant for commands does not cover one outside the sandbox", async () => {
  await using place = await openPlace(
    calls("run_command", { command: "touch first" }),
    chatReply("One."),
    calls("run_command", { command: "touch second" }),
    chatReply("Two."),
    outside("touch escaped"),
    chatReply("Then not."),
  )
  const { id } = await place.client.createConversation({ body: { agent: "files", mode: "confirm" } })
  const { proposals } = await place.say(id, "first")
  const [asked] = proposals
  expect(asked?.insists).not.toBe(true)
  await place.client.commitProposal({ params: { id: asked?.id ?? "" }, body: { always: { prefix: "touch *" } } })
  await expect.poll(async () => (await place.client.readConversation({ params: { id } })).status).toBe("active")
  // The grant is valid: this one is not asked about.
  expect((await place.say(id, "second")).proposals).toEqual([])
  expect([place.ran("first"), place.ran("second")]).toEqual([true, true])
  const { status, proposals: left } = await place.say(id, "third")
  expect(status).toBe("awaiting_confirmation")
  expect(left).toMatchObject([{ tool: "run_command", insists: true, status: "pending" }])
  expect(place.ran("escaped")).toBe(false)
  // Such a call cannot be approved in advance either.
  const always = place.client.commitProposal({ params: { id: left[0]?.id ?? "" }, body: { always: true } })
  await expect(always).rejects.toThrow()
  expect(place.ran("escaped")).toBe(false)
})
