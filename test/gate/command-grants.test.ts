import { describe, expect, test } from "vitest"
import { answer } from "../../core/engine/definition/tool.ts"
import { calls, says } from "../../core/models/scripted/script.ts"
import { type ScriptedReply, scripted } from "../../core/models/scripted/model.ts"
import { openChecked } from "../support/loop/checked-world.ts"
import { databases } from "../support/databases.ts"
import { write } from "../support/loop/tools.ts"

/** Runs commands like the tool of the files agent: its input is the command line. */
function shell() {
  const ran: string[] = []
  const tool = (name: string, isOld = false) =>
    write(name, ({ q = "" }) => answer(`${ran.push(q)} command(s)`), {
      preview: ({ q = "" }) => ({
        summary: `Run ${q}`,
        action: "destructive_update",
        ...(isOld ? {} : { commandLine: q }),
      }),
    })
  return { ran, tool }
}

const run = (...lines: string[]) => calls(...lines.map((q) => ["run_command", { q }] as const))

describe.each(databases)('"always" for a command, on $name', ({ create }) => {
  const open = async (grant: { uses: number; prefix?: string }, ...script: ScriptedReply[]) => {
    const database = await create()
    const { ran, tool } = shell()
    const options = { url: database.url, tools: [tool("run_command")] }
    const world = await openChecked({ ...options, model: scripted(run("npm test"), says("Ok."), ...script) })
    const id = await world.begin("Test.")
    const pending = async () =>
      (await world.proposals(id)).filter(({ status }) => status === "pending").map(({ proposed }) => proposed)
    const agree = async (with_ = grant) => {
      const [asked] = await pending()
      await world.pawl.runtime.submit(id, {
        ...{ type: "decide", proposalId: asked!.id, decision: "commit", by: world.user },
        grant: with_,
      } as const)
      await world.pawl.runtime.rest(id)
    }
    return {
      ...{ world, id, ran, agree, pending },
      asked: async () => (await pending()).map(({ commandLine }) => commandLine),
      async [Symbol.asyncDispose]() {
        await world[Symbol.asyncDispose]()
        await database[Symbol.asyncDispose]()
      },
    }
  }

  test("covers that command line and no other", async () => {
    const others = ["rm -rf src", "npm test -- --watch", "npm test; rm -rf src", " npm test"]
    await using opened = await open({ uses: 10 }, run("npm test"), says("Ok."), run(...others))
    await opened.agree()
    await opened.world.send(opened.id, "Again.")
    expect([opened.ran, await opened.asked()]).toEqual([["npm test", "npm test"], []])
    await opened.world.send(opened.id, "Others.")
    expect([opened.ran, await opened.asked()]).toEqual([["npm test", "npm test"], others])
  })

  test("with a stated prefix covers commands that start with it and use no shell syntax", async () => {
    const plain = ["npm test", "npm test -- --run src/a.test.ts", "npm test a=b"]
    const others = ["npm tests", "npm install", "npm test; rm -rf src", "npm test $(rm a)", "npm test\nrm a"]
    await using opened = await open({ uses: 10, prefix: "npm test *" }, run(...plain), says("Ok."), run(...others))
    await opened.agree()
    await opened.world.send(opened.id, "Plain.")
    expect([opened.ran, await opened.asked()]).toEqual([["npm test", ...plain], []])
    await opened.world.send(opened.id, "Others.")
    expect(await opened.asked()).toEqual(others)
  })

  test.each([
    ["npm install *", "does not cover"],
    ["npm test", "such as: npm test *"],
    [" *", "such as: npm test *"],
    ["*", "such as: npm test *"],
    ["npm test; rm *", "plain words"],
    ["npm tes*", "such as: npm test *"],
  ])("is refused with the prefix %j", async (prefix, problem) => {
    await using opened = await open({ uses: 10, prefix })
    await expect(opened.agree()).rejects.toMatchObject({ message: expect.stringContaining(problem) })
    expect([opened.ran, await opened.asked()]).toEqual([[], ["npm test"]])
  })

  test("of an older version, which covered every command, no longer counts and is not listed", async () => {
    await using database = await create()
    const { ran, tool } = shell()
    let id
    {
      const model = scripted(run("npm test"), says("Ok."))
      await using old = await openChecked({ url: database.url, tools: [tool("run_command", true)], model })
      id = await old.begin("Test.")
      const [asked] = await old.proposals(id)
      await old.pawl.runtime.submit(id, {
        ...{ type: "decide", proposalId: asked!.proposed.id, decision: "commit", by: old.user },
        grant: { uses: 10 },
      } as const)
      await old.pawl.runtime.rest(id)
    }
    await using world = await openChecked({
      url: database.url,
      tools: [tool("run_command")],
      model: scripted(run("npm test", "rm -rf src")),
    })
    await world.send(id, "Go on.")
    expect(ran).toEqual(["npm test"])
    const asked = (await world.proposals(id)).filter(({ status }) => status === "pending")
    expect(asked.map(({ proposed }) => proposed.commandLine)).toEqual(["npm test", "rm -rf src"])
  })
})
